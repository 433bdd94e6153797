// Keys that were found a moment ago. A key that is revoked elsewhere works on here for half a second at most; one that was
// not found is asked for every time, so that a new key works at once.
import type { AgentRow } from '../domain/agent.ts';

const LIFETIME_MS = 500;
const MAX_KEYS = 10_000;

interface Entry {
  readonly agent: AgentRow;
  readonly untilMs: number;
}

export class RecentKeys {
  readonly #entries = new Map<string, Entry>();
  #generation = 0;

  /** The agent of a key that is known, or whatever `find` says. */
  async get(keyHash: string, find: () => Promise<AgentRow | undefined>): Promise<AgentRow | undefined> {
    const nowMs = performance.now();
    const known = this.#entries.get(keyHash);
    if (known && known.untilMs > nowMs) return known.agent;
    const generation = this.#generation;
    const agent = await find();
    this.#entries.delete(keyHash);
    // It counts from the question: what happens after it is not in the answer.
    if (agent && generation === this.#generation)
      this.#keep(keyHash, { agent, untilMs: nowMs + LIFETIME_MS });
    return agent;
  }

  /** After a change of an agent by this node. */
  forget(): void {
    this.#generation++;
    this.#entries.clear();
  }

  #keep(keyHash: string, entry: Entry): void {
    const oldest = this.#entries.keys().next();
    if (this.#entries.size >= MAX_KEYS && !oldest.done) this.#entries.delete(oldest.value);
    this.#entries.set(keyHash, entry);
  }
}
