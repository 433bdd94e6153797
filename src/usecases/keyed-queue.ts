// Runs tasks with the same key one after another. Tasks with different keys do not wait for each other.

export class KeyedQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs the task after all earlier tasks with the same key, whether they succeeded or not, and tells it whether it waited. */
  async run<T>(key: string, task: (hasWaited: boolean) => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const next = () => task(true);
    const mine = before ? before.then(next, next) : task(false);
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}
