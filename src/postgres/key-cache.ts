// Cache of recently used API keys. A key revoked on another node works here for at most half a second more. Unknown keys are
// not cached, so a new key works at once. Expiry is checked on every use.
import type { AgentRow } from '../domain/agent.ts';
import { type CacheMetrics, cacheMetrics, Metrics } from '../metrics/metrics.ts';

const LIFETIME_MS = 500;
const MAX_KEYS = 10_000;

/** An active agent, and the expiry of its key. */
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
  readonly #counts: CacheMetrics;
  #generation = 0;

  constructor(metrics = new Metrics()) {
    this.#counts = cacheMetrics(metrics, 'keys');
  }

  /** The agent that holds the key, from the cache or else from `find`; undefined if the key has expired by `nowMs`. */
  async get(
    keyHash: string,
    nowMs: number,
    find: () => Promise<Holder | undefined>,
  ): Promise<AgentRow | undefined> {
    const queriedMs = performance.now();
    const cached = this.#entries.get(keyHash);
    if (cached && cached.untilMs > queriedMs) {
      this.#counts.hits.value++;
      return agentAt(cached.holder, nowMs);
    }
    this.#counts.misses.value++;
    const generation = this.#generation;
    const holder = await find();
    this.#entries.delete(keyHash);
    // The lifetime starts before the query: the result may miss any later change.
    if (holder && generation === this.#generation)
      this.#keep(keyHash, { holder, untilMs: queriedMs + LIFETIME_MS });
    return holder && agentAt(holder, nowMs);
  }

  /** To call after this node changed agents. */
  forget(): void {
    this.#generation++;
    this.#entries.clear();
  }

  /** To call after this node changed the keys of one agent. Keys of other agents stay cached. */
  forgetOf(agentId: string): void {
    this.#generation++;
    for (const [keyHash, { holder }] of this.#entries) {
      if (holder.agent.agent_id === agentId) this.#entries.delete(keyHash);
    }
  }

  /** To call after this node revoked the key. */
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
