// Room for words. Before it runs out, those who use most may add no more; the others still may.
import type { Words } from '../domain/words.ts';

/** Part of the limit that is filled; memory grows in pieces, and after a start it may take a little more. */
const FILLED_PART = 0.95;

/**
 * An owner may use this many times as much as is left. So a single one can use eight ninths of the room, and however many use as
 * much as they may, whoever uses less than they do still may add something.
 */
const TIMES_LEFT = 8;

/** Memory of a word that no other event has. */
const BYTES_PER_WORD = 50;

const SPACE = 32;

/** At most as much memory as so many words more than `fewer` take. */
export function bytesOfWords(words: Words, fewer: number): number {
  let count = 1;
  for (let at = 0; at < words.length; at++) if (words.charCodeAt(at) === SPACE) count++;
  return (count - fewer) * BYTES_PER_WORD;
}

export class WordRoom {
  readonly limitBytes: number;
  #reserved = 0;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  /**
   * Reserves memory for words that are being stored. Returns what ends that, or undefined if the owner, who uses `ownBytes` of
   * `usedBytes`, may add no more.
   */
  reserve(bytes: number, ownBytes: number, usedBytes: number): (() => void) | undefined {
    const left = this.limitBytes * FILLED_PART - usedBytes - this.#reserved - bytes;
    if (ownBytes + bytes > TIMES_LEFT * left) return undefined;
    this.#reserved += bytes;
    let isEnded = false;
    return () => {
      if (!isEnded) this.#reserved -= bytes;
      isEnded = true;
    };
  }
}
