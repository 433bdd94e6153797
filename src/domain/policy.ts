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
  /** Undefined: whoever reads needs a key. */
  readonly publicReading: PublicReading | undefined;
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

/** Reading without a key. */
export interface PublicReading {
  /** Per client network; 0: no limit. */
  readonly readsPerHour: number;
  /** Networks with a quota of their own, which all of their addresses share. None is listed twice. */
  readonly networks: readonly PublicNetwork[];
}

export interface PublicNetwork {
  readonly address: string;
  /** Length of the prefix that all of its addresses have. */
  readonly bits: number;
  /** 0: no limit. */
  readonly readsPerHour: number;
}

/** What an agent may store. */
export type AgentLimits = Pick<Policy, 'maxEventsPerAgent' | 'maxBytesPerAgent'>;
