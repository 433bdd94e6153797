// Keys that were found a moment ago. A key that is revoked elsewhere works on here for half a second at most; one that was
// not found is asked for every time, so that a new key works at once. When a key expires needs no asking.
import type { AgentRow } from '../domain/agent.ts';

const LIFETIME_MS = 500;
const MAX_KEYS = 10_000;

/** An active agent, and until when the key is its own. */
export interface Holder {
  readonly agent: AgentRow;
  readonly expiresMs: number | null;
}

interface Entry {
  readonly holder: Holder;
  readonly untilMs: number;
}

export class KeyCache {
  readonly #entries = new Map<string, Entry>();
  #generation = 0;

  /** The agent of a key that is known, or whatever `find` says, unless the key has expired by `nowMs`. */
  async get(
    keyHash: string,
    nowMs: number,
    find: () => Promise<Holder | undefined>,
  ): Promise<AgentRow | undefined> {
    const askedMs = performance.now();
    const known = this.#entries.get(keyHash);
    if (known && known.untilMs > askedMs) return agentAt(known.holder, nowMs);
    const generation = this.#generation;
    const holder = await find();
    this.#entries.delete(keyHash);
    // It counts from the question: what happens after it is not in the answer.
    if (holder && generation === this.#generation)
      this.#keep(keyHash, { holder, untilMs: askedMs + LIFETIME_MS });
    return holder && agentAt(holder, nowMs);
  }

  /** After a change of agents by this node. */
  forget(): void {
    this.#generation++;
    this.#entries.clear();
  }

  /** After this node changed the keys of one agent: others need not be asked for again. */
  forgetOf(agentId: string): void {
    this.#generation++;
    for (const [keyHash, { holder }] of this.#entries) {
      if (holder.agent.agent_id === agentId) this.#entries.delete(keyHash);
    }
  }

  /** After this node ended the key. */
  forgetKey(keyHash: string): void {
    this.#generation++;
    this.#entries.delete(keyHash);
  }

  #keep(keyHash: string, entry: Entry): void {
    const oldest = this.#entries.keys().next();
    if (this.#entries.size >= MAX_KEYS && !oldest.done) this.#entries.delete(oldest.value);
    this.#entries.set(keyHash, entry);
  }
}

function agentAt({ agent, expiresMs }: Holder, nowMs: number): AgentRow | undefined {
  return expiresMs !== null && nowMs >= expiresMs ? undefined : agent;
}
