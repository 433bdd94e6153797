// Words of events for the memory: finds those of new events, and reads those of stored ones after the start. They are not
// stored: finding them again on the reader's thread takes little longer than reading them would.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Texts, Words } from '../domain/events/words.ts';
import type { EventMemory } from '../memory/event-memory.ts';
import type { OnWordsProblem, OnWordsReady, StoredWords } from '../memory/memory-words.ts';
import { Tokenizer } from '../words/tokenizer.ts';
import type { RowWords } from './threads/row-reader.ts';

/** Pause after a failed read. */
const RETRY_MS = 1_000;

export class EventWords {
  readonly #memory: EventMemory;
  readonly #wordsAfter: (row: number) => Promise<RowWords>;
  readonly #tokenizer = new Tokenizer();
  readonly #stop = new AbortController();
  readonly #onProblem: OnWordsProblem;
  readonly #onReady: OnWordsReady;

  constructor(
    memory: EventMemory,
    wordsAfter: (row: number) => Promise<RowWords>,
    onProblem: OnWordsProblem = () => {},
    onReady: OnWordsReady = () => {},
  ) {
    this.#memory = memory;
    this.#wordsAfter = wordsAfter;
    this.#onProblem = onProblem;
    this.#onReady = onReady;
  }

  /** Reads the words of all events in the background, until that has succeeded. */
  async begin(): Promise<void> {
    const { signal } = this.#stop;
    const beganMs = performance.now();
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        await this.#memory.addWords(this.#stored());
        if (this.#memory.knowsWords) this.#onReady(performance.now() - beganMs);
        return;
      } catch (error) {
        if (failures === 1 && !signal.aborted) this.#onProblem(error); // once may be an event that has just changed
      }
      await sleep(RETRY_MS, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  close(): void {
    this.#stop.abort();
  }

  /** Calls `use` with the words: at once, unless the texts are long. */
  with<T>(event: Texts, use: (words: Words) => Promise<T>): Promise<T> {
    const words = this.#tokenizer.wordsOf(event);
    return typeof words === 'string' ? use(words) : words.then(use);
  }

  async *#stored(): AsyncGenerator<StoredWords> {
    // The next are read while these are put into the index.
    for (let next: Promise<RowWords> | undefined = this.#wordsAfter(0); next; ) {
      const found: RowWords = await next;
      this.#stop.signal.throwIfAborted();
      next = found.lastRow === undefined ? undefined : this.#wordsAfter(found.lastRow);
      next?.catch(() => {}); // reported when it is awaited
      yield found;
    }
  }
}
