// Limits of admission, with defaults that no honest agent meets. docs/limits.md explains them.
import type { BudgetLimits } from './budget.ts';

export interface AdmissionLimits {
  /** Per network: open connections. */
  readonly connections: BudgetLimits;
  /** Per network: requests from their headers to the end of their responses. */
  readonly requests: BudgetLimits;
  /** Per agent: requests after the key was checked. */
  readonly requestsPerAgent: number;
  /** Per network, and per agent: bytes of request bodies that are being received. */
  readonly bodyBytes: BudgetLimits;
  /** Per network, and per agent: bytes of responses that the client has not read yet. */
  readonly unreadBytes: BudgetLimits;
  /** Requests that use the database at the same time; undefined for the embedded engine, which needs no limit. */
  readonly databaseRequests?: number | undefined;
}

const MIB = 2 ** 20;

export const DEFAULT_LIMITS: AdmissionLimits = {
  connections: { perClient: 6_000, shared: 10_000 },
  requests: { perClient: 6_000, shared: 12_000 },
  requestsPerAgent: 1_000,
  bodyBytes: { perClient: 32 * MIB, shared: 128 * MIB },
  unreadBytes: { perClient: 64 * MIB, shared: 256 * MIB },
};
