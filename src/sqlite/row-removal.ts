// Deletes the rows of events that callers no longer see, in slices with pauses, so that other writes run in between.
import { setTimeout as sleep } from 'node:timers/promises';

/** A slice takes a few milliseconds of the writer; the pause leaves most of its time to others. */
const PAUSE_MS = 10;

/** After a failure, such as a full disk. */
const RETRY_MS = 5_000;

export class RowRemoval {
  readonly #removeSlice: () => Promise<boolean>;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  /** Whether something may have been added since the last slice began. */
  #isWanted = false;

  /** `removeSlice` returns false if there is nothing to remove. */
  constructor(removeSlice: () => Promise<boolean>) {
    this.#removeSlice = removeSlice;
  }

  /** Removes rows until none are left. To call after every delete; a removal in progress removes the new rows, too. */
  begin(): void {
    this.#isWanted = true;
    this.#running ??= this.#removeAll().finally(() => {
      this.#running = undefined;
    });
  }

  /** Waits for the current slice. The next process continues. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #removeAll(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#isWanted = false;
      const outcome = await this.#removeSlice().catch(() => 'failed' as const);
      if (outcome === false && !this.#isWanted) return;
      const pauseMs = outcome === 'failed' ? RETRY_MS : PAUSE_MS;
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }
}
