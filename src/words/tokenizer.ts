// Finds the words of events without holding up other requests: those of short texts at once, those of long ones on a thread
// of its own, because 10,000 characters can have 20,000 words.
import { Worker } from 'node:worker_threads';
import { isLongText, type Texts, type Words, wordsOf } from '../domain/events/words.ts';
import type { TokenizerRequest, TokenizerResponse } from './tokenizer-worker.ts';

/** The thread ends after this time without work. */
const IDLE_MS = 10_000;

export class Tokenizer {
  #thread: Worker | undefined;
  readonly #waiting = new Map<number, { texts: Texts; resolve: (words: Words) => void }>();
  #lastId = 0;
  #idle: NodeJS.Timeout | undefined;

  /** Never rejects: without a thread, the words are found on this one. */
  wordsOf(event: Texts): Words | Promise<Words> {
    const { title, description, location_name, address } = event;
    if (!isLongText(event)) return wordsOf(event);
    const texts = { title, description, location_name, address };
    return new Promise((resolve) => {
      this.#waiting.set(++this.#lastId, { texts, resolve });
      clearTimeout(this.#idle);
      this.#thread ??= this.#start();
      this.#thread.ref();
      this.#thread.postMessage({ id: this.#lastId, texts } satisfies TokenizerRequest);
    });
  }

  #start(): Worker {
    const thread = new Worker(new URL('./tokenizer-worker.ts', import.meta.url), { env: {} });
    thread.on('message', ({ id, words }: TokenizerResponse) => {
      this.#waiting.get(id)?.resolve(words);
      this.#waiting.delete(id);
      if (this.#waiting.size > 0) return;
      thread.unref();
      this.#idle = setTimeout(() => this.#stop(), IDLE_MS).unref();
    });
    thread.on('error', () => this.#stop());
    thread.on('exit', () => this.#stop(thread));
    return thread;
  }

  #stop(ended = this.#thread): void {
    if (ended !== this.#thread) return;
    this.#thread = undefined;
    void ended?.terminate();
    for (const { texts, resolve } of this.#waiting.values()) resolve(wordsOf(texts));
    this.#waiting.clear();
  }
}
