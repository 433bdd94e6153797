// Runs tasks with the same key one after another. Tasks with different keys do not wait for each other.

export class KeyedQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs the task after all earlier tasks with the same key, whether they succeeded or not. */
  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const mine = before ? before.then(task, task) : task();
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}
