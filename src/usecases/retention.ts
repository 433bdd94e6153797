// Removes what is not kept for ever: ended events, unused agents, idle grants, and what administrators deleted, regularly and in slices.
import type { AuditAction, AuditEntry } from '../domain/administration/audit.ts';
import { RETENTION } from '../domain/administration/undo.ts';
import { type Clock, DAY_MS } from '../domain/clock-and-random.ts';
import { GRANT_IDLE_MS } from '../domain/grants.ts';
import type { Policy } from '../domain/policy.ts';
import type { BulkDeleted, Store } from '../domain/store.ts';
import type { ClockTrust, Doubt } from './clock-trust.ts';

const INTERVAL_MS = 600_000;

/** Time to note the running time when it is closed. */
const NOTE_MS = 500;

/** Between two slices, so that a long removal takes only a part of the store's time. */
const PAUSE_MS = 20;

export type Removed = 'events' | 'agents' | 'deleted' | 'grants';

export interface RetentionOptions {
  readonly policy: Policy;
  readonly store: Pick<Store, 'removeEnded' | 'removeUnusedAgents' | 'removeDeleted' | 'removeIdleGrants'>;
  readonly clock: Clock;
  readonly trust: Pick<ClockTrust, 'check' | 'close'>;
  /** Called when removals stop because of the clock, and without a doubt when they go on. */
  readonly onDoubt: (doubt: Doubt | undefined) => void;
  readonly onRemoved: (count: number, what: Removed, days: number) => void;
  readonly onFailure: (error: unknown) => void;
}

export class Retention {
  readonly #options: RetentionOptions;
  readonly #done: Promise<void>;
  #isClosed = false;
  #isStopped = false;
  /** Of the last entry about removed events, which the next run continues while it is young. */
  #auditId: number | undefined;
  /** Ends the current pause. */
  #wake = () => {};

  /** Begins at once. */
  constructor(options: RetentionOptions) {
    this.#options = options;
    this.#done = this.#repeat();
  }

  /** Whether nothing is removed because the clock may be wrong. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Waits for the slice that is being removed. The next start continues. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake();
    await this.#done;
    const noted = this.#options.trust.close().catch(() => {});
    const late = new Promise<void>((resolve) => setTimeout(resolve, NOTE_MS).unref());
    await Promise.race([noted, late]);
  }

  async #repeat(): Promise<void> {
    while (!this.#isClosed) {
      try {
        await this.#removeAll();
      } catch (error) {
        if (!this.#isClosed) this.#options.onFailure(error);
      }
      await this.#pause(INTERVAL_MS);
    }
  }

  async #removeAll(): Promise<void> {
    const { store, clock, trust, onDoubt, policy } = this.#options;
    const { keepEndedDays, keepUnusedAgentsDays, keepDeletedDays } = policy;
    const nowMs = clock();
    const doubt = await trust.check(nowMs);
    const isStopped = doubt !== undefined;
    if (isStopped !== this.#isStopped) onDoubt(doubt);
    this.#isStopped = isStopped;
    if (isStopped) return;
    await this.#remove(store.removeDeleted(nowMs - keepDeletedDays * DAY_MS), 'deleted', keepDeletedDays);
    await this.#remove(idleGrants(store, nowMs - GRANT_IDLE_MS), 'grants', GRANT_IDLE_MS / DAY_MS);
    const audit = (action: AuditAction): AuditEntry => ({
      ...{ at_ms: nowMs, actor_subject: RETENTION, actor_email: '', action, target: '', detail: '' },
      ...(keepDeletedDays > 0 && { undo: 'kept' }),
    });
    if (keepEndedDays !== undefined) {
      const slices = store.removeEnded(nowMs - keepEndedDays * DAY_MS, audit('delete_events'), this.#auditId);
      await this.#remove(this.#noteEntry(slices), 'events', keepEndedDays);
    }
    if (keepUnusedAgentsDays !== undefined) {
      const slices = store.removeUnusedAgents(nowMs - keepUnusedAgentsDays * DAY_MS, audit('delete_agent'));
      await this.#remove(slices, 'agents', keepUnusedAgentsDays);
    }
  }

  async *#noteEntry(slices: AsyncIterable<BulkDeleted>): AsyncGenerator<number> {
    for await (const { deleted, audit_id } of slices) {
      this.#auditId = audit_id ?? undefined;
      yield deleted;
    }
  }

  async #remove(slices: AsyncIterable<number>, what: Removed, days: number): Promise<void> {
    let total = 0;
    try {
      for await (const count of slices) {
        total += count;
        if (this.#isClosed) return;
        await this.#pause(PAUSE_MS);
      }
    } finally {
      if (total > 0) this.#options.onRemoved(total, what, days);
    }
  }

  /** Ends early when it is closed. */
  async #pause(ms: number): Promise<void> {
    if (this.#isClosed) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    timer.unref();
    this.#wake = resolve;
    await promise;
    clearTimeout(timer);
  }
}

async function* idleGrants(store: Pick<Store, 'removeIdleGrants'>, usedByMs: number): AsyncGenerator<number> {
  for (let count = await store.removeIdleGrants(usedByMs); count > 0; ) {
    yield count;
    count = await store.removeIdleGrants(usedByMs);
  }
}
