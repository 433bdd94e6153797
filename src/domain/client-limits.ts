// Limits on what clients may have in progress, so that none of them can take the service from the others. docs/limits.md
// explains them. No honest agent meets the defaults.

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

const MIB = 2 ** 20;

export const CLIENT_LIMITS: ClientLimits = {
  connections: { perClient: 6_000, shared: 10_000 },
  requests: { perClient: 6_000, shared: 12_000 },
  requestsPerAgent: 1_000,
  bodyBytes: { perClient: 16 * MIB, shared: 128 * MIB },
  unreadBytes: { perClient: 32 * MIB, shared: 256 * MIB },
};
