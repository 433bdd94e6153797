// Time of each agent's last request: kept in memory, and written to the database every few seconds.

/** Half of the 10 seconds to which last uses must be accurate. */
const WRITE_INTERVAL_MS = 5_000;

export class LastUses {
  readonly #write: (used: ReadonlyMap<string, number>) => Promise<void>;
  readonly #timer: NodeJS.Timeout;
  /** Last use by agent ID, since the service started. */
  readonly #used = new Map<string, number>();
  #unwritten = new Set<string>();
  #writing: Promise<unknown> = Promise.resolve();

  constructor(write: (used: ReadonlyMap<string, number>) => Promise<void>) {
    this.#write = write;
    this.#timer = setInterval(() => void this.write(), WRITE_INTERVAL_MS).unref();
  }

  note(agentId: string, nowMs: number): void {
    this.#used.set(agentId, nowMs);
    this.#unwritten.add(agentId);
  }

  find(agentId: string): number | undefined {
    return this.#used.get(agentId);
  }

  forget(agentId: string): void {
    this.#used.delete(agentId);
    this.#unwritten.delete(agentId);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.write();
  }

  /** Resolves when all uses noted so far are written, those of earlier calls too. After a failure, the next call retries. */
  async write(): Promise<void> {
    this.#writing = Promise.all([this.#writing, this.#writeUnwritten()]);
    await this.#writing;
  }

  async #writeUnwritten(): Promise<void> {
    if (this.#unwritten.size === 0) return;
    const used = new Map([...this.#unwritten].map((agentId) => [agentId, this.#used.get(agentId)!]));
    this.#unwritten = new Set();
    try {
      await this.#write(used);
    } catch {
      for (const agentId of used.keys()) if (this.#used.has(agentId)) this.#unwritten.add(agentId);
    }
  }
}
