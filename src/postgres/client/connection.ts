// One connection to one host: opened once, by the first statement, and never again. The driver by itself would open the
// next one under a transaction that has begun, and carries over what it knew of the last; a lost connection is thrown away.
import { connect as openSocket, type Socket } from 'node:net';
import { CONNECT_TIMEOUT_MS, connect, type Session, type Sql } from './driver.ts';
import { secure, tlsModeOf } from './tls.ts';

/** Then it makes room for a new one: the server's process keeps everything that it ever prepared. */
const LIFETIME_MS = 1_800_000;

/** Options of the address that the driver would pass to the server, in place of ours. */
const OURS = [
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

  /** Nothing is opened until something is asked. */
  constructor(address: string, session: Session) {
    const url = new URL(address);
    this.#host = url.hostname.replace(/^\[(.*)\]$/, '$1'); // of IPv6
    this.#port = Number(url.port || 5432);
    this.#tlsMode = tlsModeOf(url);
    const options = { host: this.#host, port: this.#port, ...session };
    for (const name of OURS) url.searchParams.delete(name);
    this.sql = connect(url.href, { ...options, openSocket: () => this.#open() });
  }

  /** Whether more may be asked. */
  get isUsable(): boolean {
    if (this.#isDropped || performance.now() > this.#untilMs) return false;
    return this.#socket === undefined || this.#socket.readyState === 'open';
  }

  /** Whatever is under way fails as lost. */
  drop(): void {
    if (this.#isDropped) return;
    this.#isDropped = true;
    void this.sql.end({ timeout: 0 }).catch(() => {});
    this.#socket?.destroy(); // the driver would wait for a server that may never say goodbye
  }

  /** Without TLS, the driver writes to the socket while it connects, and hears what becomes of it. */
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

/** The statement was not sent; what was before it in the same transaction is undone. */
class ConnectionClosed extends Error {
  readonly code = 'CONNECTION_NOT_OPEN';
}
