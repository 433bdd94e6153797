// Time of the last request of each agent, or with each key: collected in memory, and written to the database every few seconds.

/** Half of the 10 seconds to which last uses must be accurate. */
const WRITE_INTERVAL_MS = 5_000;

/** Writes the times by ID. Returns the IDs to write again later, if any. `Via`: connections that a caller may pass. */
type Write<Via> = (
  used: ReadonlyMap<string, number>,
  via: Via | undefined,
) => Promise<ReadonlySet<string> | undefined>;

export class LastUses<Via = never> {
  readonly #write: Write<Via>;
  readonly #timer: NodeJS.Timeout;
  /** Not yet written, or being written. */
  readonly #used = new Map<string, number>();
  /** The last batch written. A read that runs now may have seen the rows before that write. */
  #written: ReadonlyMap<string, number> = new Map();
  #writing: Promise<void> = Promise.resolve();

  constructor(write: Write<Via>) {
    this.#write = write;
    this.#timer = setInterval(() => void this.write(), WRITE_INTERVAL_MS).unref();
  }

  note(id: string, nowMs: number): void {
    this.#used.set(id, nowMs);
  }

  /** The last use, even if it was not yet written when `storedMs` was read. */
  latest(id: string, storedMs: number | null): number | null {
    const usedMs = this.#used.get(id) ?? this.#written.get(id);
    return usedMs === undefined || usedMs < (storedMs ?? 0) ? storedMs : usedMs;
  }

  /** The agent with its last use. */
  apply<Agent extends { readonly agent_id: string; readonly last_used_ms: number | null }>(
    agent: Agent,
  ): Agent {
    return { ...agent, last_used_ms: this.latest(agent.agent_id, agent.last_used_ms) };
  }

  forget(id: string): void {
    this.#used.delete(id);
  }

  async close(via?: Via): Promise<void> {
    clearInterval(this.#timer);
    await this.write(via);
  }

  /**
   * Resolves when all uses noted so far are written, or could not be: the next write retries. Writes run one after the other, so that
   * #written is the latest.
   */
  write(via?: Via): Promise<void> {
    this.#writing = this.#writing.then(() => this.#writeAll(via)).catch(() => {});
    return this.#writing;
  }

  async #writeAll(via: Via | undefined): Promise<void> {
    if (this.#used.size === 0) return;
    const sent = new Map(this.#used);
    const left = await this.#write(sent, via);
    for (const [id, usedMs] of sent) {
      if (left?.has(id)) sent.delete(id);
      else if (this.#used.get(id) === usedMs) this.#used.delete(id);
    }
    this.#written = sent;
  }
}
