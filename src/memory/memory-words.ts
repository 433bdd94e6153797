// The words of all events in memory: loads them after the events, limits what they take, and finds events by them. Without
// room for them there are none until the next start.
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../domain/errors.ts';
import type { Term } from '../domain/events/word-query.ts';
import type { Words } from '../domain/events/words.ts';
import type { WordShare } from '../domain/own-agent.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { EventIndex } from '../spatial/event-index.ts';
import { type HandleSet, listOf } from '../spatial/handle-set.ts';
import { WordIndex } from '../words/word-index.ts';
import { type AnySearcher, letOthersRun, type SearchSteps } from './search-steps.ts';
import { bytesOfWords, WordRoom } from './word-room.ts';

/** A search by words waits this long after a start, until the words of all events were read. */
const PATIENCE_MS = 5_000;

/** Characters of words that are put into the index between two turns of the event loop: about 2 ms. */
const CHARS_PER_TURN = 25_000;
const OTHERS_MS = 4; // for other requests after that

/** Words of stored events, as parallel arrays. */
export interface StoredWords {
  readonly ids: readonly string[];
  readonly versions: readonly number[];
  readonly words: readonly Words[];
}

export interface IndexOptions {
  /** A random number, so that nobody can choose words that are slow to look up. */
  readonly hashSeed?: number | undefined;
  /** Above this size of the index, there are no words in it until the next start. */
  readonly indexMaxBytes?: number | undefined;
  /** Whether that may happen only at the start: whoever adds events calls `reserve`. */
  readonly keepsWords?: boolean | undefined;
  readonly onWordsProblem?: OnWordsProblem | undefined;
}

/** Called when searches by words do not work: because of the cause, or without one because the words need too much memory. */
export type OnWordsProblem = (cause?: unknown) => void;

/** Called when the words of all events are in memory, with the time that reading them took. */
export type OnWordsReady = (tookMs: number) => void;

export function measureWords(metrics: Metrics | undefined, areReady: () => boolean): void {
  const help = '1 while searches by words are answered from memory.';
  metrics?.gauge('local_events_words_ready', help, () => (areReady() ? 1 : 0));
}

export class MemoryWords {
  readonly #index: EventIndex;
  readonly #indexBytes: () => number;
  readonly #room: WordRoom;
  readonly #keepsWords: boolean;
  readonly #onProblem: OnWordsProblem;
  #words: WordIndex;
  #hasRoom = true;
  /** Resolves when the words of all events are known; undefined then. */
  #known: PromiseWithResolvers<void> | undefined;

  /** `indexBytes`: size of the index without words. */
  constructor(index: EventIndex, indexBytes: () => number, options: IndexOptions) {
    const { hashSeed = 0, indexMaxBytes = Infinity, keepsWords = false, onWordsProblem = () => {} } = options;
    this.#index = index;
    this.#indexBytes = indexBytes;
    this.#room = new WordRoom(indexMaxBytes);
    this.#keepsWords = keepsWords;
    this.#onProblem = onWordsProblem;
    this.#words = new WordIndex(hashSeed);
  }

  /** The words of this many events will be added. */
  expect(total: number): void {
    this.#known = Promise.withResolvers();
    this.#words.reserve(total + 1);
  }

  /**
   * Adds the words of all loaded events, and lets other work run in between. Those of events that changed meanwhile are left
   * out. Until then, searches by words wait. `catchUp` brings the memory to the versions that were read. Throws if it must be repeated.
   */
  async addAll(batches: AsyncIterable<StoredWords>, catchUp: () => Promise<void>): Promise<void> {
    let chars = 0;
    const others: string[] = [];
    for await (const { ids, versions, words } of batches) {
      for (let at = 0; at < ids.length; at++) {
        const handle = this.#index.find(ids[at]!);
        if (handle === undefined || this.#words.has(handle)) continue;
        if (this.#index.versionOf(handle) !== versions[at]) {
          others.push(ids[at]!);
          continue;
        }
        this.put(handle, words[at]!, this.#index.ownerOf(handle));
        chars += words[at]!.length;
        if (chars < CHARS_PER_TURN) continue;
        await letOthersRun(OTHERS_MS);
        chars = 0;
      }
    }
    // The memory has their words when it has the versions that were read.
    if (others.length > 0) await catchUp();
    const isMissing = (handle: number | undefined) => handle !== undefined && !this.#words.has(handle);
    if (others.some((id) => isMissing(this.#index.find(id)))) throw new Error('an event changed meanwhile');
    this.#known?.resolve();
    this.#known = undefined;
  }

  /** Whether searches by words can be answered, and need not wait. */
  get areKnown(): boolean {
    return this.#hasRoom && this.#known === undefined;
  }

  get areAwaited(): boolean {
    return this.#known !== undefined;
  }

  /** Resolves when searches by words need not wait. Throws UNAVAILABLE if that takes too long. */
  async untilKnown(): Promise<void> {
    if (!this.#hasRoom || !this.#known) return;
    const isLate = sleep(PATIENCE_MS, true, { ref: false });
    if (await Promise.race([this.#known.promise, isLate])) throw wordsUnknown(PATIENCE_MS / 1_000);
  }

  shareOf(owner: number): WordShare {
    return { bytes: this.#words.bytesOf(owner), limitBytes: this.#room.limitBytes };
  }

  /** Reserves memory for words, which may replace those of an event. Returns what ends that; undefined: it must be refused. */
  reserve(owner: number, words: Words, replaced: number | undefined): (() => void) | undefined {
    if (!this.#hasRoom) return NOTHING_RESERVED;
    const reserve = (bytes: number) =>
      this.#room.reserve(bytes, this.#words.bytesOf(owner), this.#usedBytes, this.#known?.promise);
    const end = reserve(bytesOfWords(words));
    return end || replaced === undefined ? end : reserve(this.#words.growthOf(words, replaced));
  }

  put(handle: number, words: Words, owner: number): void {
    if (!this.#hasRoom) return;
    this.#words.put(handle, words, owner);
    if (this.#usedBytes <= this.#room.limitBytes || (this.#keepsWords && !this.#known)) return;
    // Words that nobody else uses take far more memory than the text that has them.
    this.#hasRoom = false;
    this.#words = new WordIndex(0);
    this.#known?.resolve();
    this.#onProblem();
  }

  drop(handle: number): void {
    this.#words.drop(handle);
  }

  matches(handle: number, terms: readonly Term[]): boolean {
    return this.#words.matches(handle, terms);
  }

  /** The events with these words. The next change may change the set. Throws OVERLOADED if there was no room for words. */
  findNow(terms: readonly Term[]): HandleSet {
    if (!this.#hasRoom) throw tooManyWords();
    return this.#words.findNow(terms);
  }

  /** The same for terms that take long. Throws the reason of the searcher's signal if it is aborted. */
  async findInSteps(terms: readonly Term[], steps: SearchSteps, searcher: AnySearcher): Promise<HandleSet> {
    let finding: Generator<void, HandleSet> | undefined;
    try {
      for (;;) {
        await steps.next(searcher);
        finding ??= this.#words.find(terms);
        const step = finding.next();
        if (!step.done) continue;
        if (!this.#hasRoom) throw tooManyWords();
        return step.value;
      }
    } finally {
      finding?.return(NO_HANDLES); // has no effect unless it was aborted
    }
  }

  get isSettled(): boolean {
    return this.#words.isSettled;
  }

  settle(): void {
    this.#words.settle();
  }

  get #usedBytes(): number {
    return this.#words.bytes + this.#indexBytes();
  }
}

const NOTHING_RESERVED = () => {};
const NO_HANDLES = listOf(new Int32Array(0));

function wordsUnknown(retryAfterSeconds: number): AppError {
  const message = 'The words of the events are still being read. Retry, or search without q.';
  return new AppError('UNAVAILABLE', message, { retryAfterSeconds });
}

function tooManyWords(): AppError {
  const message = 'The words of all events need more memory than the service may use. Search without q.';
  return new AppError('OVERLOADED', message);
}
