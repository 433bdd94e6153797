// The backlog: responses that node:http still buffers because their clients have not read them. Counts the bytes, refuses
// new requests above a limit, and closes connections that take too long to read a large response. Idle connections are
// left to node:http's own timeout.
import type { FastifyReply } from 'fastify';
import { AppError } from '../../domain/errors.ts';

export interface BacklogLimits {
  /** Above this many buffered bytes, new requests are refused. */
  readonly maxBytes: number;
  /** A response larger than this has a time limit. */
  readonly largeBytes: number;
  /** Time limit for reading a whole large response, even if the client reads steadily. */
  readonly largeMs: number;
}

const LIMITS: BacklogLimits = { maxBytes: 256 * 2 ** 20, largeBytes: 64 * 2 ** 10, largeMs: 30_000 };

declare module 'fastify' {
  interface FastifyReply {
    /** Bytes that the backlog counts for this response. */
    waitingBytes: number;
    /** Closes the connection when a large response exceeds its time limit. */
    closeTimer: NodeJS.Timeout | undefined;
  }
}

export class Backlog {
  readonly #limits: BacklogLimits;
  #waitingBytes = 0;

  constructor(limits: Partial<BacklogLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** Throws UNAVAILABLE while the backlog is over its limit. */
  requireRoom(): void {
    if (this.#waitingBytes > this.#limits.maxBytes) {
      throw new AppError(
        'UNAVAILABLE',
        'Too many responses are waiting for clients to read them. Retry shortly.',
      );
    }
  }

  /**
   * Counts a response that is about to be sent; `remove` must follow. Requests that arrive together all pass the first
   * check, so a large response to a GET checks again and throws UNAVAILABLE. Shared bytes (one copy in memory for all
   * responses) count as 0.
   */
  add(reply: FastifyReply, bytes: number, isShared = false): void {
    this.remove(reply); // an error may replace a response that could not be sent
    const { method, raw } = reply.request;
    // Do not count a HEAD, which has no body, or a closed connection, for which `remove` would never be called.
    if (method === 'HEAD' || raw.socket.destroyed) return;
    const isLarge = bytes > this.#limits.largeBytes;
    if (isLarge && method === 'GET') this.requireRoom();
    reply.waitingBytes = isShared ? 0 : bytes;
    this.#waitingBytes += reply.waitingBytes;
    // No socket yet: this response is queued behind another on its connection, perhaps one of a thousand small ones.
    if (isLarge || reply.raw.socket === null) {
      reply.closeTimer = setTimeout(() => raw.socket.destroy(), this.#limits.largeMs).unref();
    }
  }

  /** Counts a response that Fastify sends. A string is its own copy; bytes are a file such as those of /docs, shared by all. */
  addPayload(reply: FastifyReply, payload: unknown): void {
    if (typeof payload === 'string') this.add(reply, Buffer.byteLength(payload));
    else this.add(reply, payload instanceof Uint8Array ? payload.length : 0, true);
  }

  /** Stops counting: the response was read, or its connection is closed. */
  remove(reply: FastifyReply): void {
    // Undefined in frameworkErrors: Fastify creates that reply without our decorators.
    if (reply.waitingBytes) this.#waitingBytes -= reply.waitingBytes;
    reply.waitingBytes = 0;
    if (reply.closeTimer) clearTimeout(reply.closeTimer);
  }
}
