// Answers that node:http holds because their clients have not taken them: how many bytes wait, when that is too much for
// anything new, and when one has waited too long. Clients on whose connection nothing moves are cut by node:http itself.
import type { FastifyReply } from 'fastify';
import { AppError } from '../../domain/errors.ts';

export interface BacklogLimits {
  /** While more than this waits, nothing new is begun. */
  readonly maxBytes: number;
  /** An answer larger than this has a time limit. */
  readonly largeBytes: number;
  /** How long a large answer may take to be taken wholly, however steadily it is read. */
  readonly largeMs: number;
}

const LIMITS: BacklogLimits = { maxBytes: 256 * 2 ** 20, largeBytes: 64 * 2 ** 10, largeMs: 30_000 };

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
   * a large answer to a GET looks again, and throws UNAVAILABLE. Of bytes that are shared all answers have one copy.
   */
  add(reply: FastifyReply, bytes: number, isShared = false): void {
    this.remove(reply); // an error can take the place of an answer that could not be sent
    const { method, raw } = reply.request;
    if (method === 'HEAD' || raw.socket.destroyed) return; // no body; or closed already, and nobody would subtract
    const isLarge = bytes > this.#limits.largeBytes;
    if (isLarge && method === 'GET') this.requireRoom();
    reply.waitingBytes = isShared ? 0 : bytes;
    this.#waitingBytes += reply.waitingBytes;
    // One behind another on its connection may be one of a thousand small ones.
    if (isLarge || reply.raw.socket === null) {
      reply.cutTimer = setTimeout(() => raw.socket.destroy(), this.#limits.largeMs).unref();
    }
  }

  /** Counts an answer that the framework sends: text, or bytes, which are a file of the docs. */
  addPayload(reply: FastifyReply, payload: unknown): void {
    if (typeof payload === 'string') this.add(reply, Buffer.byteLength(payload));
    else this.add(reply, payload instanceof Uint8Array ? payload.length : 0, true);
  }

  /** The answer is taken, or its connection is gone. */
  remove(reply: FastifyReply): void {
    if (reply.waitingBytes) this.#waitingBytes -= reply.waitingBytes; // none where the framework made the reply
    reply.waitingBytes = 0;
    if (reply.cutTimer) clearTimeout(reply.cutTimer);
  }
}
