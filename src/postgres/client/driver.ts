// Driver settings for one connection, and the session settings sent to the server. connection.ts decides when to connect.
import type { Socket } from 'node:net';
import postgres from 'postgres';

export type Sql = postgres.Sql<{ bigint: number }>;

/** Session settings of a connection. */
export interface Session {
  /** 0: no timeout. */
  readonly statementTimeoutMs: number;
  /** Maximum time to wait for a lock. Default: only the statement timeout applies. */
  readonly lockTimeoutMs?: number;
  /** Default: APPLICATION. */
  readonly applicationName?: string;
  /** Further settings of the server. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface ConnectOptions extends Session {
  readonly host: string;
  readonly port: number;
  /** Opens a socket to this host and port, with TLS if required. It may still be connecting. */
  readonly openSocket: () => Socket | Promise<Socket>;
}

/** Prefix of the application name of all our connections. */
export const APPLICATION = 'local-events';

/** Maximum time to open a connection. */
export const CONNECT_TIMEOUT_MS = 1_000;

/** Maximum time that an abandoned transaction keeps its locks. */
const IDLE_IN_TRANSACTION_MS = 10_000;

/** Reads bigint as number: all our values (times in milliseconds, counts) are exact in a double. */
const bigint = { to: 20, from: [20], parse: Number, serialize: String };

/** Settings of the server for a session. As strings: the driver omits values that are 0 or false. */
export function sessionSettings({
  statementTimeoutMs,
  lockTimeoutMs = 0,
  settings,
}: Session): Record<string, string> {
  return {
    statement_timeout: String(statementTimeoutMs),
    // Statements are written so that one plan fits all parameters; many statements take longer to plan than to run.
    // Parallel workers or JIT for one search would only take CPU from others.
    plan_cache_mode: 'force_generic_plan',
    max_parallel_workers_per_gather: '0',
    jit: 'off',
    idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_MS),
    // Even 0: one of the role or the server would end a wait before statement_timeout, with another error.
    lock_timeout: String(lockTimeoutMs),
    ...settings,
  };
}

/** Does not connect before the first statement. */
export function connect(url: string, options: ConnectOptions): Sql {
  const { host, port, applicationName = APPLICATION, openSocket } = options;
  // The driver's types do not declare these options.
  const untyped: object = { host: [host], port: [port], socket: openSocket };
  return postgres(url, {
    ...untyped,
    ssl: false, // tls.ts does TLS
    max: 1,
    max_lifetime: null,
    connect_timeout: CONNECT_TIMEOUT_MS / 1_000,
    fetch_types: false,
    onnotice: () => {},
    types: { bigint },
    connection: { application_name: applicationName, ...sessionSettings(options) },
  });
}
