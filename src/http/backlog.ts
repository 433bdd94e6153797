// Answers that node:http holds because their clients have not taken them: how many bytes wait, when that is too much for
// anything new, and when one has waited too long. Clients on whose connection nothing moves are cut by node:http itself.
import type { FastifyReply } from 'fastify';
import { AppError } from '../domain/errors.ts';

export interface BacklogLimits {
  /** While more than this waits, nothing new is begun. */
  readonly maxBytes: number;
  /** An answer larger than this has a time limit. */
  readonly largeBytes: number;
  /** How long a large answer may take to be taken wholly, however steadily it is read. */
  readonly largeMs: number;
}

const LIMITS: BacklogLimits = { maxBytes: 256 * 2 ** 20, largeBytes: 64 * 2 ** 10, largeMs: 30_000 };

/** The longest that a UTF-16 unit becomes in UTF-8. */
const MAX_BYTES_PER_UNIT = 3;

declare module 'fastify' {
  interface FastifyReply {
    /** What the backlog counts for this answer. */
    waitingBytes: number;
    /** Cuts the connection of a large answer. */
    cutTimer: NodeJS.Timeout | undefined;
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

  /** Throws UNAVAILABLE while too much waits. */
  requireRoom(): void {
    if (this.#waitingBytes > this.#limits.maxBytes) {
      throw new AppError('UNAVAILABLE', 'Too many answers wait for clients to read them. Try again shortly.');
    }
  }

  /**
   * Counts an answer that is about to be sent; every one ends with `remove`. Requests that arrive together all find room:
   * a large answer to a GET looks again, and throws UNAVAILABLE.
   */
  add(reply: FastifyReply, payload: unknown): void {
    this.remove(reply); // an error can take the place of an answer that could not be sent
    const { method, raw } = reply.request;
    if (method === 'HEAD' || raw.socket.destroyed) return; // no body; or closed already, and nobody would subtract
    const bytes = this.#sizeOf(payload);
    const isLarge = bytes > this.#limits.largeBytes;
    if (isLarge && method === 'GET') this.requireRoom();
    // Bytes that are not text are a file of the docs, of which all answers share one copy.
    reply.waitingBytes = typeof payload === 'string' ? bytes : 0;
    this.#waitingBytes += reply.waitingBytes;
    // One behind another on its connection may be one of a thousand small ones.
    if (isLarge || reply.raw.socket === null) {
      reply.cutTimer = setTimeout(() => raw.socket.destroy(), this.#limits.largeMs).unref();
    }
  }

  /** The answer is taken, or its connection is gone. */
  remove(reply: FastifyReply): void {
    if (reply.waitingBytes) this.#waitingBytes -= reply.waitingBytes; // none where the framework made the reply
    reply.waitingBytes = 0;
    if (reply.cutTimer) clearTimeout(reply.cutTimer);
  }

  /** Of a small text an upper bound: counting costs a pass over it. */
  #sizeOf(payload: unknown): number {
    if (typeof payload === 'string') {
      const most = payload.length * MAX_BYTES_PER_UNIT;
      return most > this.#limits.largeBytes ? Buffer.byteLength(payload) : most;
    }
    return payload instanceof Uint8Array ? payload.length : 0;
  }
}
