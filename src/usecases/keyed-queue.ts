// Tasks that concern the same thing, one after another; those that concern different things do not wait for each other.

export class KeyedQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs the task after those of the same key that came before it, whether they succeeded or not. */
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
