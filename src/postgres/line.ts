// One connection to one host: opened once, by the first statement, and never again. The driver by itself would open the
// next one under a transaction that has begun, and carries over what it knew of the last; a lost line is thrown away.
import { connect as openSocket, type Socket } from 'node:net';
import { connect, type Sql } from './connect.ts';

/** Then it makes room for a new one: the server's process keeps everything that it ever prepared. */
const LIFETIME_MS = 1_800_000;

export class Line {
  readonly sql: Sql;
  readonly #host: string;
  readonly #port: number;
  readonly #untilMs = performance.now() + LIFETIME_MS;
  #socket: Socket | undefined;
  #isDropped = false;

  /** Nothing is opened until something is asked. */
  constructor(address: string, statementTimeoutMs: number) {
    const { hostname, port } = new URL(address);
    this.#host = hostname.replace(/^\[(.*)\]$/, '$1'); // of IPv6
    this.#port = Number(port || 5432);
    const options = { host: this.#host, port: this.#port, statementTimeoutMs };
    this.sql = connect(address, { ...options, openSocket: () => this.#open() });
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

  /** The driver writes to the socket while it connects, and hears what becomes of it. */
  #open(): Socket {
    if (this.#socket || this.#isDropped) throw new LineClosed('the connection is closed');
    this.#socket = Object.assign(openSocket(this.#port, this.#host), { host: this.#host }); // TLS checks that name
    return this.#socket;
  }
}

/** The statement was not sent; what was before it in the same transaction is undone. */
class LineClosed extends Error {
  readonly code = 'LINE_CLOSED';
}
