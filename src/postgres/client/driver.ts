// The driver for one connection: how it is opened, and what the server is told. When it is, and when not, is in line.ts.
import type { Socket } from 'node:net';
import postgres from 'postgres';

export type Sql = postgres.Sql<{ bigint: number }>;

/** What the server is told of a connection. */
export interface Session {
  /** 0: none. */
  readonly statementTimeoutMs: number;
  /** APPLICATION unless given. */
  readonly applicationName?: string;
}

export interface ConnectOptions extends Session {
  readonly host: string;
  readonly port: number;
  /** One to this host and port, with TLS where that is wanted; it may still be connecting. */
  readonly openSocket: () => Socket | Promise<Socket>;
}

/** How the names of all our connections begin. */
export const APPLICATION = 'local-events';

/** How long a connection may take to open. */
export const CONNECT_TIMEOUT_MS = 1_000;

/** A transaction that is forgotten half-way holds its locks no longer than this. */
const IDLE_IN_TRANSACTION_MS = 10_000;

/** Milliseconds are far below the largest whole number of a double. */
const bigint = { to: 20, from: [20], parse: Number, serialize: String };

/** Nothing is opened until something is asked. */
export function connect(address: string, options: ConnectOptions): Sql {
  const { host, port, statementTimeoutMs, applicationName = APPLICATION, openSocket } = options;
  // Of these the driver's types know less than the driver.
  const untyped: object = { host: [host], port: [port], socket: openSocket };
  // As texts: the driver leaves out what is 0 or false.
  const connection: Record<string, string> = {
    application_name: applicationName,
    statement_timeout: String(statementTimeoutMs),
    // Statements are written so that one plan fits all parameters; planning takes longer than many of them. Several
    // processes or compiled code for one search would only take the cores from others.
    plan_cache_mode: 'force_generic_plan',
    max_parallel_workers_per_gather: '0',
    jit: 'off',
    idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_MS),
  };
  return postgres(address, {
    ...untyped,
    ssl: false, // tls.ts has done that
    max: 1,
    max_lifetime: null,
    connect_timeout: CONNECT_TIMEOUT_MS / 1_000,
    fetch_types: false,
    onnotice: () => {},
    types: { bigint },
    connection,
  });
}
