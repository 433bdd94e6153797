// The operator's settings that rules and flows need. None of them is secret.
import type { AllowList } from './administration/admin.ts';
import type { Tier, TierLimits } from './agent.ts';

export interface Policy {
  readonly registrationTier: Tier;
  readonly tierLimits: TierLimits;
  /** Per client network; 0: no limit. */
  readonly registrationsPerHour: number;
  /** Per client network; 0: no limit. */
  readonly failedRegistrationsPerHour: number;
  /** OAuth clients that register themselves, per client network; 0: no limit. */
  readonly clientRegistrationsPerHour: number;
  /** 0: no limit. */
  readonly maxEventsPerAgent: number;
  /** UTF-8 bytes of the JSON of an agent's events; 0: no limit. */
  readonly maxBytesPerAgent: number;
  /** All agents of one client network together; 0: no limit. */
  readonly maxBytesPerNetworkAndHour: number;
  readonly administrators: AllowList;
  /** Days after its end that an event is kept; undefined: for ever. */
  readonly keepEndedDays: number | undefined;
  /** Days after its registration that an agent is kept that made no request and has no events; undefined: for ever. */
  readonly keepUnusedAgentsDays: number | undefined;
  /** Days for which what administrators delete can be restored; 0: not at all. */
  readonly keepDeletedDays: number;
}

/** What an agent may store. */
export type AgentLimits = Pick<Policy, 'maxEventsPerAgent' | 'maxBytesPerAgent'>;
