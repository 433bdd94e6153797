// What every use case works with: the store, time and chance, and what the operator decided.
import type { AllowList, VerifyToken } from '../domain/admin.ts';
import type { Tier, TierLimits } from '../domain/agent.ts';
import type { Clock, Random } from '../domain/clock-and-random.ts';
import type { ConsoleAccess } from '../domain/session.ts';
import type { Store } from '../domain/store.ts';
import type { KeyedQueue } from './keyed-queue.ts';

export interface Policy {
  readonly registrationTier: Tier;
  readonly tierLimits: TierLimits;
  /** Per client address and hour; 0: no limit. */
  readonly registrationsPerHour: number;
  /** 0: no limit. */
  readonly maxEventsPerAgent: number;
  readonly administrators: AllowList;
}

export interface Context {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly policy: Policy;
  readonly verifyToken: VerifyToken;
  readonly console: ConsoleAccess;
  /** Changes of one event wait for each other here, rather than fail and start again in the store. */
  readonly edits: KeyedQueue;
}
