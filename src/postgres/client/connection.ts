// A connection to one host: opened by the first statement, and never reopened. The driver would reconnect in the middle of a
// transaction and keep state of the old connection, so a lost connection is discarded instead. TLS, according to sslmode in the URL, is
// not left to the driver either: it stops listening to its TLS socket, and a later error of that socket would end the process.
import { isIP, connect as openSocket, type Socket } from 'node:net';
import { connect as openTls } from 'node:tls';
import { CONNECT_TIMEOUT_MS, connect, type Session, type Sql } from './driver.ts';
import { ConnectionClosed, failureOf } from './errors.ts';

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

/** Protocol message that requests TLS. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const YES = 'S';

/** Undefined if the URL does not ask for TLS. */
function tlsModeOf({ searchParams }: URL): string | undefined {
  const mode = searchParams.get('sslmode') ?? searchParams.get('ssl') ?? 'disable';
  return mode === 'disable' || mode === 'false' ? undefined : mode;
}

/**
 * Returns the socket to use. Throws TlsRefused if the server's TLS cannot be used; a connection that fails before it is secure
 * throws its own error. Has no timeout: destroy the socket to end it.
 */
async function secure(raw: Socket, host: string, mode: string): Promise<Socket> {
  raw.on('error', () => {}); // `next` below and the TLS socket report errors
  raw.write(SSL_REQUEST);
  const reply = (await next(raw, 'data')) as Buffer;
  if (reply.toString('latin1') !== YES) {
    if (mode === 'prefer' || mode === 'allow') return raw;
    throw new TlsRefused('the server offers no TLS');
  }
  // Like libpq: only the verify-… modes check the certificate, and verify-ca does not check its name.
  const rejectUnauthorized = mode.startsWith('verify') || mode === 'true';
  const name = isIP(host) ? {} : { servername: host };
  const nameCheck = mode === 'verify-ca' ? { checkServerIdentity: () => undefined } : {};
  const socket = openTls({ socket: raw, host, rejectUnauthorized, ...name, ...nameCheck });
  try {
    await next(socket, 'secureConnect');
  } catch (error) {
    socket.destroy();
    if (failureOf(error) === 'not-begun') throw error;
    throw new TlsRefused((error as Error).message, { cause: error });
  }
  return socket;
}

function next(socket: Socket, event: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const fail = (cause?: Error) => {
      const isCut = !cause || failureOf(cause) === 'lost';
      reject(
        isCut ? new ConnectionClosed('the connection was closed before it was secure', { cause }) : cause,
      );
    };
    socket
      .once(event, resolve)
      .once('error', fail)
      .once('close', () => fail());
  });
}

class TlsRefused extends Error {
  readonly code = 'TLS_REFUSED';
}
