// A connection to one host: opened by the first statement, and never reopened. The driver would reconnect in the middle of a
// transaction and keep state of the old connection, so a lost connection is discarded instead.
import { connect as openSocket, type Socket } from 'node:net';
import { CONNECT_TIMEOUT_MS, connect, type Session, type Sql } from './driver.ts';
import { ConnectionClosed } from './errors.ts';
import { secure, tlsModeOf } from './tls.ts';

/** Age at which a connection is replaced: the server's process keeps all statements ever prepared on it. */
const LIFETIME_MS = 1_800_000;

/** URL options to remove: the driver would pass them to the server and override our own settings. */
const OVERRIDDEN_OPTIONS = [
  'application_name',
  'sslmode',
  'ssl',
  'channel_binding',
  'target_session_attrs',
  'connect_timeout',
];

export class Connection {
  readonly sql: Sql;
  readonly #host: string;
  readonly #port: number;
  readonly #tlsMode: string | undefined;
  readonly #untilMs = performance.now() + LIFETIME_MS;
  #socket: Socket | undefined;
  #isDropped = false;

  /** Does not connect before the first statement. */
  constructor(hostUrl: string, session: Session) {
    const url = new URL(hostUrl);
    this.#host = url.hostname.replace(/^\[(.*)\]$/, '$1'); // brackets of an IPv6 address
    this.#port = Number(url.port || 5432);
    this.#tlsMode = tlsModeOf(url);
    const options = { host: this.#host, port: this.#port, ...session };
    for (const name of OVERRIDDEN_OPTIONS) url.searchParams.delete(name);
    this.sql = connect(url.href, { ...options, openSocket: () => this.#open() });
  }

  /** Whether more statements may be sent. */
  get isUsable(): boolean {
    if (this.#isDropped || performance.now() > this.#untilMs) return false;
    return this.#socket === undefined || this.#socket.readyState === 'open';
  }

  /** Running statements fail with an error of a lost connection. */
  drop(): void {
    if (this.#isDropped) return;
    this.#isDropped = true;
    void this.sql.end({ timeout: 0 }).catch(() => {});
    this.#socket?.destroy(); // the driver would wait for a server that may never close its side
  }

  /** Without TLS the socket may still be connecting: the driver writes to it and handles its errors. */
  #open(): Socket | Promise<Socket> {
    if (this.#socket || this.#isDropped) throw new ConnectionClosed('the connection is closed');
    this.#socket = openSocket(this.#port, this.#host);
    return this.#tlsMode === undefined ? this.#socket : this.#secure(this.#socket, this.#tlsMode);
  }

  async #secure(raw: Socket, mode: string): Promise<Socket> {
    const timer = setTimeout(() => raw.destroy(new ConnectTimeout('TLS takes too long')), CONNECT_TIMEOUT_MS);
    try {
      this.#socket = await secure(raw, this.#host, mode);
    } catch (error) {
      raw.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
    }
    if (this.#isDropped) this.#socket.destroy();
    return this.#socket;
  }
}

class ConnectTimeout extends Error {
  readonly code = 'CONNECT_TIMEOUT';
}
