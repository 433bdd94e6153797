// Lets searches wait until memory has every write that was acknowledged before they arrived. One poll of the database at a time
// serves all searches that arrived before it began: its snapshot has those writes, in whatever order they were committed.

/** Pause between two polls: under load more searches share one, and polls take less of the database's time. */
const PAUSE_MS = 1;

/** Without searches, the time between two polls: changes must not pile up. */
const IDLE_MS = 1_000;

/** `behind`: memory must first catch up with many changes, which takes longer than a search may wait. */
export type ReadIndexState = 'current' | 'behind';

export class ReadIndex {
  readonly #poll: (onBehind: () => void) => Promise<void>;
  readonly #idleTimer: NodeJS.Timeout;
  /** For the searches that the next poll serves. */
  #next: PromiseWithResolvers<ReadIndexState> | undefined;
  /** From when a poll is scheduled until it has ended. */
  #isBusy = false;
  #isBehind = false;
  #endedAt = Number.NEGATIVE_INFINITY;

  /** `poll` applies every change of one snapshot that it takes after it was called, and says so if these are many. */
  constructor(poll: (onBehind: () => void) => Promise<void>) {
    this.#poll = poll;
    this.#idleTimer = setInterval(() => {
      if (performance.now() - this.#endedAt >= IDLE_MS / 2) void this.confirm().catch(() => {});
    }, IDLE_MS).unref();
  }

  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Resolves after a poll that began after this call, or as soon as that is behind. Rejects with the error of that poll. */
  confirm(): Promise<ReadIndexState> {
    this.#next ??= Promise.withResolvers();
    const { promise } = this.#next;
    this.#schedule();
    return promise;
  }

  close(): void {
    clearInterval(this.#idleTimer);
  }

  #schedule(): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    const pauseMs = PAUSE_MS - (performance.now() - this.#endedAt);
    const run = () => void this.#run();
    // In a later turn of the event loop: searches that arrived in this one share the poll.
    if (pauseMs > 0) setTimeout(run, pauseMs);
    else setImmediate(run);
  }

  async #run(): Promise<void> {
    const served = this.#next!;
    this.#next = undefined;
    try {
      await this.#poll(() => {
        this.#isBehind = true;
        served.resolve('behind');
        // Those that have arrived meanwhile would wait for this poll, too.
        this.#next?.resolve('behind');
        this.#next = undefined;
      });
      served.resolve('current');
    } catch (error) {
      served.reject(error);
    }
    this.#isBehind = false;
    this.#endedAt = performance.now();
    this.#isBusy = false;
    if (this.#next) this.#schedule();
  }
}
