// Cache of who holds recently used keys or access tokens. What was revoked on another node works here for at most half a second more.
// Unknown ones are not cached, so a new one works at once. Expiry is checked on every use.
import type { AgentRow } from '../domain/agent.ts';
import { type CacheMetrics, cacheMetrics, Metrics } from '../metrics/metrics.ts';

const LIFETIME_MS = 500;
const MAX_ENTRIES = 10_000;

/** An active agent with what it holds, and its expiry. */
export interface Held<Holder> {
  readonly holder: Holder;
  readonly agent: AgentRow;
  readonly expiresMs: number | null;
}

interface Entry<Holder> {
  readonly held: Held<Holder>;
  readonly untilMs: number;
}

export class HolderCache<Holder> {
  readonly #entries = new Map<string, Entry<Holder>>();
  readonly #counts: CacheMetrics;
  #generation = 0;

  /** `name` is that of its metrics. */
  constructor(name: string, metrics = new Metrics()) {
    this.#counts = cacheMetrics(metrics, name);
  }

  /** The holder, from the cache or else from `find`; undefined if the key or token has expired by `nowMs`. */
  async get(
    hash: string,
    nowMs: number,
    find: () => Promise<Held<Holder> | undefined>,
  ): Promise<Holder | undefined> {
    const queriedMs = performance.now();
    const cached = this.#entries.get(hash);
    if (cached && cached.untilMs > queriedMs) {
      this.#counts.hits.value++;
      return holderAt(cached.held, nowMs);
    }
    this.#counts.misses.value++;
    const generation = this.#generation;
    const held = await find();
    this.#entries.delete(hash);
    // The lifetime starts before the query: the result may miss any later change.
    if (held && generation === this.#generation) this.#keep(hash, { held, untilMs: queriedMs + LIFETIME_MS });
    return held && holderAt(held, nowMs);
  }

  /** To call after this node changed agents. */
  forget(): void {
    this.#generation++;
    this.#entries.clear();
  }

  /** To call after this node changed what one agent holds. That of other agents stays cached. */
  forgetOf(agentId: string): void {
    this.#generation++;
    for (const [hash, { held }] of this.#entries) {
      if (held.agent.agent_id === agentId) this.#entries.delete(hash);
    }
  }

  /** To call after this node revoked the key or token. */
  forgetOne(hash: string): void {
    this.#generation++;
    this.#entries.delete(hash);
  }

  #keep(hash: string, entry: Entry<Holder>): void {
    const oldest = this.#entries.keys().next();
    if (this.#entries.size >= MAX_ENTRIES && !oldest.done) this.#entries.delete(oldest.value);
    this.#entries.set(hash, entry);
  }
}

function holderAt<Holder>({ holder, expiresMs }: Held<Holder>, nowMs: number): Holder | undefined {
  return expiresMs !== null && nowMs >= expiresMs ? undefined : holder;
}
