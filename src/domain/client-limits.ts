// Limits on what clients may have in progress, so that none of them can take the service from the others. docs/limits.md
// explains them. No honest agent meets the defaults.
import { BYTES_PER_MB } from './store.ts';

/** A limit for each client, and one for all together. */
export interface Limit {
  readonly perClient: number;
  readonly shared: number;
}

export interface ClientLimits {
  /** Per network: open connections. */
  readonly connections: Limit;
  /** Per network: requests from their headers to the end of their responses. */
  readonly requests: Limit;
  /** Per agent: requests after the key was checked. */
  readonly requestsPerAgent: number;
  /** Per agent: bytes of request bodies that are being received. A network may have twice as many. */
  readonly bodyBytes: Limit;
  /** Per agent: bytes of responses that the client has not read yet. A network may have twice as many. */
  readonly unreadBytes: Limit;
}

export const CLIENT_LIMITS: ClientLimits = {
  connections: { perClient: 6_000, shared: 10_000 },
  requests: { perClient: 6_000, shared: 12_000 },
  requestsPerAgent: 1_000,
  bodyBytes: { perClient: 16 * BYTES_PER_MB, shared: 128 * BYTES_PER_MB },
  unreadBytes: { perClient: 32 * BYTES_PER_MB, shared: 256 * BYTES_PER_MB },
};
