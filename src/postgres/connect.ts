// Connections to one host: how they are opened, and what every one of them is told.
import postgres from 'postgres';

export type Sql = postgres.Sql<{ bigint: number }>;

export interface ConnectOptions {
  readonly statementTimeoutMs: number;
  readonly poolSize: number;
}

/** How long a connection may take to open. */
const CONNECT_TIMEOUT_S = 1;

/** A transaction that is forgotten half-way holds its locks no longer than this. */
const IDLE_IN_TRANSACTION_MS = 10_000;

/** Milliseconds are far below the largest whole number of a double. */
const bigint = { to: 20, from: [20], parse: Number, serialize: String };

/** Nothing is opened until something is asked. */
export function connect(address: string, { poolSize, statementTimeoutMs }: ConnectOptions): Sql {
  return postgres(address, {
    max: poolSize,
    connect_timeout: CONNECT_TIMEOUT_S,
    backoff: () => 0.1,
    fetch_types: false,
    onnotice: () => {},
    types: { bigint },
    connection: {
      application_name: 'local-events',
      statement_timeout: statementTimeoutMs,
      // Statements are written so that one plan fits all parameters; planning takes longer than many of them. Several
      // processes or compiled code for one search would only take the cores from others.
      plan_cache_mode: 'force_generic_plan',
      max_parallel_workers_per_gather: '0', // as texts: the driver leaves out what is false
      jit: 'off',
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    },
  });
}
