// The backlog: responses that node:http still buffers because their clients have not read them. Counts the bytes by client,
// refuses new requests of clients over their share, and closes connections that take too long to read a large response.
// Idle connections are left to node:http's own timeout.
import type { FastifyReply } from 'fastify';
import { CLIENT_LIMITS, type Limit } from '../../domain/client-limits.ts';
import { AppError } from '../../domain/errors.ts';
import { ClientBudget, NETWORK_FACTOR } from './budget.ts';
import type { RequestClient } from './request-client.ts';
import { overloaded } from './work-queue.ts';

export interface BacklogLimits {
  /** Unread bytes of each agent, and altogether. */
  readonly unreadBytes: Limit;
  /** A response larger than this has a time limit. */
  readonly largeBytes: number;
  /** Time limit for reading a whole large response, even if the client reads steadily. */
  readonly largeMs: number;
}

const LIMITS: BacklogLimits = {
  unreadBytes: CLIENT_LIMITS.unreadBytes,
  largeBytes: 64 * 2 ** 10,
  largeMs: 30_000,
};

const RETRY_SECONDS = 5;

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
  readonly #budget: ClientBudget;

  constructor(limits: Partial<BacklogLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
    this.#budget = new ClientBudget(this.#limits.unreadBytes);
  }

  get waitingBytes(): number {
    return this.#budget.total;
  }

  /** Throws RATE_LIMITED while the client has too much to read, OVERLOADED while all clients together have. */
  requireRoom(client: RequestClient): void {
    const reached = this.#budget.reached(client);
    if (reached === 'perClient') {
      const mebibytes = Math.round(this.#limits.unreadBytes.perClient / 2 ** 20);
      throw new AppError(
        'RATE_LIMITED',
        `You may leave at most ${mebibytes} MiB of responses unread, and all clients of your network together ${NETWORK_FACTOR * mebibytes} MiB. Read them or close their connections, then retry.`,
        { retryAfterSeconds: RETRY_SECONDS, refusedBy: 'unread_per_client' },
      );
    }
    if (reached) throw overloaded('unread');
  }

  /** Whether a response of this length is checked before it is sent, and has a time limit. */
  isLarge(bytes: number): boolean {
    return bytes > this.#limits.largeBytes;
  }

  /**
   * Counts a response that is about to be sent; `remove` must follow. Requests that arrive together all pass the first
   * check, so a large response to a GET checks again and throws as `requireRoom` does. Shared bytes (one copy in memory for all
   * responses) count as 0 and are not checked again.
   */
  add(reply: FastifyReply, bytes: number, isShared = false): void {
    this.remove(reply); // an error may replace a response that could not be sent
    const { method, raw } = reply.request;
    // Do not count a HEAD, which has no body, or a closed connection, for which `remove` would never be called.
    if (method === 'HEAD' || raw.socket.destroyed) return;
    const isLarge = this.isLarge(bytes);
    const { client } = reply.request;
    if (isLarge && !isShared && method === 'GET') this.requireRoom(client);
    this.#count(reply, isShared ? 0 : bytes);
    // No socket yet: this response is queued behind another on its connection, perhaps one of a thousand small ones.
    if (isLarge || reply.raw.socket === null) {
      reply.closeTimer = setTimeout(() => raw.socket.destroy(), this.#limits.largeMs).unref();
    }
  }

  /** Counts a response that Fastify sends. A string is its own copy; bytes are a static document, shared by all. */
  addPayload(reply: FastifyReply, payload: unknown): void {
    if (typeof payload === 'string') this.add(reply, Buffer.byteLength(payload));
    else this.add(reply, payload instanceof Uint8Array ? payload.length : 0, true);
  }

  /** Stops counting: the response was read, or its connection is closed. */
  remove(reply: FastifyReply): void {
    // Undefined in frameworkErrors: Fastify creates that reply without our decorators.
    if (reply.waitingBytes) this.#count(reply, 0);
    if (reply.closeTimer) clearTimeout(reply.closeTimer);
  }

  #count(reply: FastifyReply, bytes: number): void {
    this.#budget.add(reply.request.client, bytes - reply.waitingBytes);
    reply.waitingBytes = bytes;
  }
}
