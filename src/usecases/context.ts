// The dependencies of every use case: the store, the clock, the random source and the operator's settings.
import type { VerifyToken } from '../domain/administration/admin.ts';
import type { ConsoleAccess } from '../domain/administration/session.ts';
import type { Clock, Random } from '../domain/clock-and-random.ts';
import type { OAuthAccess } from '../domain/oauth-access.ts';
import type { Places } from '../domain/places.ts';
import type { Policy } from '../domain/policy.ts';
import type { AgentStore, Store } from '../domain/store.ts';

export interface Context {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly policy: Policy;
  readonly verifyToken: VerifyToken;
  readonly console: ConsoleAccess;
  /** Undefined: clients cannot sign in. */
  readonly oauth?: OAuthAccess | undefined;
  /** Queues the updates of one event, so that they do not conflict and retry in the store. */
  readonly edits: KeyedQueue;
  readonly places: Places;
}

/** What changes of agents need, so that the command line can make them without a service. */
export interface AgentContext extends Pick<Context, 'clock' | 'random'> {
  readonly store: AgentStore;
  readonly policy: Pick<Policy, 'tierLimits' | 'keepDeletedDays'>;
}

/** Runs tasks with the same key one after another. Tasks with different keys do not wait for each other. */
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
