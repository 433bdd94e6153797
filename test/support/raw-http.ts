// HTTP by hand over a socket: for requests that no client library would send, and for responses as they are on the wire.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { parseJson } from '../acceptance/json-client.ts';
import type { Answer } from './client.ts';

const HEAD_END = '\r\n\r\n';

/** A connection without a byte for this long counts as closed, so that a test fails instead of waiting for ever. */
const SILENCE_MS = 30_000;

/** One connection; it returns responses in the order in which they arrive. */
export class RawConnection {
  readonly socket: Socket;
  /** Settles with the first `100 Continue`, while `next` is waiting. */
  readonly continued: Promise<void>;
  /** Settles when the connection has ended, for whatever reason. */
  readonly closed: Promise<void>;
  #received = Buffer.alloc(0);
  #isClosed = false;
  #wake = () => {};
  #continue = () => {};

  private constructor(socket: Socket) {
    this.socket = socket;
    this.continued = new Promise((resolve) => {
      this.#continue = resolve;
    });
    socket.on('data', (bytes: Buffer<ArrayBuffer>) => {
      this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes]);
      this.#wake();
    });
    socket.on('error', () => {}); // a reset is a way to close
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#isClosed = true;
        this.#wake();
        resolve();
      });
    });
  }

  static async open(url: string, localAddress?: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    // Half open, so that ending our side does not end the response.
    const address = { host: hostname, port: Number(port), ...(localAddress && { localAddress }) };
    const socket = connect({ ...address, allowHalfOpen: true, noDelay: true });
    socket.once('end', () => socket.end());
    socket.setTimeout(SILENCE_MS, () => socket.destroy());
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  write(bytes: string | Uint8Array): void {
    this.socket.write(bytes);
  }

  /** The next response; undefined if the connection closes before it is complete. `to` is the request's method. */
  async next(to = 'GET'): Promise<Answer | undefined> {
    for (;;) {
      const answer = this.#take(to);
      if (answer) return answer;
      if (this.#isClosed) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #take(to: string): Answer | undefined {
    const headEnd = this.#received.indexOf(HEAD_END);
    if (headEnd < 0) return undefined;
    const [statusLine = '', ...lines] = this.#received.toString('latin1', 0, headEnd).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    if (!status) throw new Error(`not an HTTP response: ${statusLine}`);
    const bodyStart = headEnd + HEAD_END.length;
    if (status < 200) {
      if (status === 100) this.#continue();
      this.#received = this.#received.subarray(bodyStart);
      return this.#take(to);
    }
    const headers = new Headers(
      lines.map((line): [string, string] => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon), line.slice(colon + 1).trim()];
      }),
    );
    const isEmpty = to === 'HEAD' || status === 204 || status === 304;
    const length = isEmpty ? 0 : Number(headers.get('content-length') ?? Number.NaN);
    if (Number.isNaN(length)) throw new Error(`a response without Content-Length: ${statusLine}`);
    if (this.#received.length < bodyStart + length) return undefined;
    const text = this.#received.toString('utf8', bodyStart, bodyStart + length);
    this.#received = this.#received.subarray(bodyStart + length);
    return { status, headers, text, body: parseJson(text) };
  }

  destroy(): void {
    this.socket.destroy();
  }
}

/** Sends the bytes over a new connection and returns the first response. */
export async function exchange(url: string, bytes: string | Uint8Array, to?: string): Promise<Answer> {
  const connection = await RawConnection.open(url);
  try {
    connection.write(bytes);
    const answer = await connection.next(to);
    if (!answer) throw new Error('the connection was closed without a response');
    return answer;
  } finally {
    connection.destroy();
  }
}

/** A request as text, with Host, and with Content-Length if it has a body. */
export function request(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string,
): string {
  const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ Host: 'localhost', ...length, ...headers });
  return `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body ?? ''}`;
}
