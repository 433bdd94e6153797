// Connections to one host: how they are opened, and what every one of them is told.
import postgres from 'postgres';

export type Sql = postgres.Sql<{ bigint: number }>;

export interface ConnectOptions {
  readonly statementTimeoutMs: number;
  readonly poolSize: number;
  /** What the server calls the connections; APPLICATION unless given. */
  readonly applicationName?: string;
}

/** How the names of all our connections begin. */
export const APPLICATION = 'local-events';

/** How long a connection may take to open. */
const CONNECT_TIMEOUT_S = 1;

/** A transaction that is forgotten half-way holds its locks no longer than this. */
const IDLE_IN_TRANSACTION_MS = 10_000;

/** Milliseconds are far below the largest whole number of a double. */
const bigint = { to: 20, from: [20], parse: Number, serialize: String };

/** Nothing is opened until something is asked. */
export function connect(address: string, options: ConnectOptions): Sql {
  const { poolSize, statementTimeoutMs, applicationName = APPLICATION } = options;
  return postgres(address, {
    max: poolSize,
    connect_timeout: CONNECT_TIMEOUT_S,
    backoff: () => 0.1,
    fetch_types: false,
    onnotice: () => {},
    types: { bigint },
    connection: {
      application_name: applicationName,
      statement_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    },
  });
}
