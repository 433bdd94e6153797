// A row of the table of attacks.
import type { Attacker } from './attacker.ts';

export interface Row {
  readonly title: string;
  readonly attack: (attacker: Attacker) => Promise<void>;
  /** Keys that the attacker registers; 0: the attack needs none. */
  readonly keys: number;
  /** Addresses that the attacker connects from. Default: 1. */
  readonly addresses?: number;
  /** The attacker always connects from the address of the others. */
  readonly isOnOneAddress?: boolean;
  /** There is an identity provider. After the attack, an administrator signs in; without it, one has a token. */
  readonly signsIn?: boolean;
  /** Events that the first key's agent has before the attack. Default: 100 of maximum length. */
  readonly ownEvents?: number;
  /** Events that it has instead. */
  readonly events?: () => readonly Record<string, unknown>[];
  /** Statuses that the attacker may see besides 200, 429 and 503. */
  readonly statuses?: readonly number[];
  /** Settings other than the defaults, to reach a limit in the time of a test. */
  readonly env?: Readonly<Record<string, string>>;
  /** Limit for the growth of the data on disk. */
  readonly maxDiskMb?: number;
  /** Memory that the attack may leave behind, in caches. Default: 32. */
  readonly maxKeptMb?: number;
}

/** A search that finds the 100 events of maximum length. */
export const LONG_PAGE = '/v1/events/nearby?lat=0&lng=0&radius=1&limit=100';
