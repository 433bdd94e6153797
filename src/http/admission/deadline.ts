// The deadline of a response. It lies above every deadline of the engines and below that of the connection, so that a slow
// database or disk gives a 503 and never a closed connection. docs/operations.md lists all deadlines.
import type { FastifyReply } from 'fastify';
import { AppError } from '../../domain/errors.ts';
import type { RequestClient, Waiting } from './request-client.ts';

/** Default. A write to the data folder takes at most 8 s, a statement of PostgreSQL 11 s. */
const RESPONSE_MS = 15_000;

/** A response needs more than one statement: for the key, the quota, and the request itself. */
const ABOVE_STATEMENT_MS = 5_000;

/** How much longer than a response a connection may take without a byte. */
const CONNECTION_MARGIN_MS = 5_000;

/** Time between two looks at all that wait. A timer for each request would take 7 % of the time of a search. */
const CHECK_MS = 250;

export class ResponseDeadline {
  readonly #ms: number;
  /** The ends of a list. A Set would take 2 % of the time of a read. */
  #first: Waiting | undefined;
  #last: Waiting | undefined;
  /** Runs while something waits. */
  #timer: NodeJS.Timeout | undefined;
  /** How long a connection may be without a byte during a request. */
  readonly inactivityMs: number;

  /** Longer than the default if statements of the database may take longer; 0 or undefined: it has no timeout. */
  constructor(statementTimeoutMs = 0, responseMs = RESPONSE_MS) {
    this.#ms = Math.max(responseMs, statementTimeoutMs && statementTimeoutMs + ABOVE_STATEMENT_MS);
    this.inactivityMs = this.#ms + CONNECTION_MARGIN_MS;
  }

  /**
   * Unless the response has begun by the deadline, sends UNAVAILABLE and marks the client as late. The work continues; whoever
   * waits for it must look at the mark before sending anything. `forget` must follow.
   */
  watch(reply: FastifyReply): void {
    const waiting = { reply, earlier: this.#last, later: undefined };
    reply.request.client.waiting = waiting;
    if (this.#last) this.#last.later = waiting;
    else this.#first = waiting;
    this.#last = waiting;
    this.#timer ??= setInterval(() => this.#check(), CHECK_MS).unref();
  }

  /** Sends UNAVAILABLE, as after the deadline, to all whose request has arrived and whose response has not begun. */
  endAll(): void {
    for (let waiting = this.#first, later: Waiting | undefined; waiting; waiting = later) {
      const { reply } = waiting;
      later = waiting.later;
      if (!reply.request.raw.complete) continue; // it still sends
      this.#end(reply, `The service is stopping. ${adviceFor(reply)}`);
    }
  }

  /** To call when the response was sent or its connection is closed. */
  forget(client: RequestClient): void {
    const { waiting } = client;
    if (!waiting) return;
    client.waiting = undefined;
    const { earlier, later } = waiting;
    if (earlier) earlier.later = later;
    else this.#first = later;
    if (later) later.earlier = earlier;
    else this.#last = earlier;
    // Otherwise an ended reply that has become old for the garbage collector keeps its neighbours in memory, and these theirs.
    waiting.earlier = undefined;
    waiting.later = undefined;
  }

  #check(): void {
    const nowMs = performance.now();
    for (let waiting = this.#first, later: Waiting | undefined; waiting; waiting = later) {
      const { reply } = waiting;
      later = waiting.later;
      const { client } = reply.request;
      if (client.arrivedMs + this.#ms > nowMs) continue;
      this.#end(reply, `There is no result after ${this.#ms / 1_000} s. ${adviceFor(reply)}`);
    }
    if (this.#first) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #end(reply: FastifyReply, message: string): void {
    const { client } = reply.request;
    this.forget(client);
    if (reply.sent || reply.raw.headersSent) return;
    client.isLate = true;
    reply.send(new AppError('UNAVAILABLE', message));
  }
}

function adviceFor({ request }: FastifyReply): string {
  const mayChange = request.caller !== undefined && request.method !== 'GET';
  return mayChange ? 'The change may still happen: read it before you retry.' : 'Retry.';
}
