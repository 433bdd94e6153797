// Room for words. Before it runs out, those who use most may add no more; the others still may.
import type { Words } from '../domain/events/words.ts';
import { BYTES_PER_USE, bytesOfWord } from '../words/word-use.ts';

/** Part of the limit that is filled; memory grows in pieces, and after a start it may take a little more. */
const FILLED_PART = 0.95;

/** Part that counts as used while the words of stored events are still being read: it may be as much. What is left is for new events. */
const UNREAD_PART = 0.92;

/**
 * An owner may use this many times as much as is left. So a single one can use eight ninths of the room, and however many use as
 * much as they may, whoever uses less than they do still may add something.
 */
const TIMES_LEFT = 8;

const SPACE = 32;

const NOTHING_RESERVED = () => {};

/** At most as much memory as the words take, even if no other event has them. */
export function bytesOfWords(words: Words): number {
  let count = 1;
  for (let at = 0; at < words.length; at++) if (words.charCodeAt(at) === SPACE) count++;
  return count * (bytesOfWord(0) + BYTES_PER_USE) + words.length;
}

export class WordRoom {
  readonly limitBytes: number;
  #reserved = 0;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  /**
   * Reserves memory for words that are being stored. Returns what ends that, or undefined if the owner, who uses `ownBytes` of
   * `usedBytes`, may add no more. `allRead` resolves when the words of stored events were read, if they still are being read.
   */
  reserve(
    bytes: number,
    ownBytes: number,
    usedBytes: number,
    allRead?: Promise<void>,
  ): (() => void) | undefined {
    if (bytes <= 0) return NOTHING_RESERVED;
    const used = allRead ? this.limitBytes * UNREAD_PART : usedBytes;
    const left = this.limitBytes * FILLED_PART - used - this.#reserved - bytes;
    if (ownBytes + bytes > TIMES_LEFT * left) return undefined;
    this.#reserved += bytes;
    let isEnded = false;
    const end = () => {
      if (!isEnded) this.#reserved -= bytes;
      isEnded = true;
    };
    if (!allRead) return end;
    void allRead.then(end);
    return NOTHING_RESERVED;
  }
}
