// An attacker: many raw connections from several addresses for a limited time, and a count of what came back. The process
// that runs it is in attack.ts.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ResponseCounter } from './response-counter.ts';

export interface AttackerInput {
  readonly url: string;
  readonly keys: readonly string[];
  /** Addresses to connect from, taken in turn. */
  readonly addresses: readonly string[];
  readonly seconds: number;
}

/** How often each status, or way to lose a connection, was seen. */
export type Seen = Readonly<Record<string, number>>;

export interface OpenOptions {
  /** Sent once connected. */
  readonly first: string;
  /** Sent after that. */
  readonly second?: Buffer;
  /** Whether requests are HEADs, whose responses have no body. */
  readonly isToHead?: boolean;
  /** False: never reads. */
  readonly reads?: boolean;
  /** `name` is the status. */
  readonly onResponse?: (socket: Socket, name: string, retryAfterMs: number) => void;
  /** Called when the service ends the connection, or refuses it; not when the attacker does. */
  readonly onCut?: () => void;
}

export interface Pace {
  readonly perSecond: number;
  /** 0: a connection that ends stays away. */
  readonly replacedPerSecond: number;
}

const TURN_MS = 10;
/** After a longer delay of its own, an attacker does not catch up. */
const MAX_TURN_MS = 100;

export class Attacker {
  readonly keys: readonly string[];
  readonly host: string;
  readonly #port: number;
  readonly #addresses: readonly string[];
  readonly #endMs: number;
  readonly #seen = new Map<string, number>();
  readonly #sockets = new Set<Socket>();
  #opened = 0;

  constructor({ url, keys, addresses, seconds }: AttackerInput) {
    const { host, port } = new URL(url);
    this.keys = keys;
    this.host = host;
    this.#port = Number(port);
    this.#addresses = addresses;
    this.#endMs = performance.now() + seconds * 1000;
  }

  get isOver(): boolean {
    return performance.now() >= this.#endMs;
  }

  get seen(): Seen {
    return Object.fromEntries(this.#seen);
  }

  /** A request with this key; `head` has further lines. */
  request(method: string, path: string, key?: string, head = ''): string {
    const credential = key === undefined ? '' : `X-API-Key: ${key}\r\n`;
    return `${method} ${path} HTTP/1.1\r\nHost: ${this.host}\r\n${credential}${head}\r\n`;
  }

  /** The same with a JSON body. */
  post(path: string, body: string, key?: string, head = ''): string {
    const length = `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
    return this.request('POST', path, key, head + length) + body;
  }

  open({ first, second, isToHead = false, reads = true, onResponse, onCut }: OpenOptions): Socket {
    const localAddress = this.#addresses[this.#opened++ % this.#addresses.length]!;
    const socket = connect({ host: '127.0.0.1', port: this.#port, localAddress });
    this.#sockets.add(socket);
    if (reads) {
      const counter = new ResponseCounter(isToHead, (name, retryAfterMs) => {
        this.#count(name);
        onResponse?.(socket, name, retryAfterMs);
      });
      socket.on('data', (bytes) => counter.feed(bytes as Buffer));
    } else socket.pause();
    socket.on('error', (error: NodeJS.ErrnoException) => this.#count(error.code ?? error.message));
    socket.on('end', () => this.#count('closed'));
    socket.on('close', () => {
      if (this.#sockets.delete(socket)) onCut?.();
    });
    socket.on('connect', () => {
      this.#count('connected');
      socket.write(first);
      if (second) socket.write(second);
    });
    return socket;
  }

  /**
   * Opens `count` connections, `perSecond` of them a second, and then replaces those that the service ends, until the end.
   * Slowly, because opening connections is an attack of its own, and one that costs the attacker as much as the service.
   */
  async keepOpen(
    count: number,
    { perSecond, replacedPerSecond }: Pace,
    open: (number: number) => OpenOptions,
  ): Promise<void> {
    let opened = 0;
    let cut = 0;
    let budget = 0;
    let turnMs = performance.now();
    while (!this.isOver) {
      const elapsedMs = Math.min(performance.now() - turnMs, MAX_TURN_MS);
      turnMs = performance.now();
      budget += (opened < count ? perSecond : replacedPerSecond) * (elapsedMs / 1000);
      for (; budget >= 1 && (opened < count || cut > 0); budget--) {
        if (opened >= count) cut--;
        this.open({ ...open(opened++), onCut: () => cut++ });
      }
      budget = Math.min(budget, 1);
      await sleep(TURN_MS);
    }
  }

  /** Ends these connections without a goodbye. */
  leave(sockets: Iterable<Socket> = this.#sockets): void {
    for (const socket of [...sockets]) {
      this.#sockets.delete(socket);
      socket.destroy();
    }
  }

  /** Reads the first status on connections that were never read, then ends them. */
  async leaveAndLook(): Promise<void> {
    for (const socket of this.#sockets) {
      socket.once('data', (bytes) => {
        this.#count((bytes as Buffer).toString('latin1', 9, 12));
        socket.pause();
      });
      socket.resume();
    }
    await sleep(500);
    this.leave();
  }

  /** Waits, but not beyond the end. */
  async pause(ms: number): Promise<void> {
    await sleep(Math.max(0, Math.min(ms, this.#endMs - performance.now())));
  }

  async untilOver(): Promise<void> {
    await this.pause(Infinity);
  }

  #count(name: string): void {
    this.#seen.set(name, (this.#seen.get(name) ?? 0) + 1);
  }
}
