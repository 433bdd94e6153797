// The client of a request: its network and, once its key was checked, its agent.
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { FastifyReply } from 'fastify';
import type { AppError } from '../../domain/errors.ts';
import { type Client, overloaded, UNLIMITED } from './work-queue.ts';

/** A place in the list of replies that wait, in the order of arrival. */
export interface Waiting {
  readonly reply: FastifyReply;
  earlier: Waiting | undefined;
  later: Waiting | undefined;
}

/** An open connection, which may carry many requests. */
export interface Connection {
  readonly network: string;
  /** Why its requests are refused, if they are. */
  readonly refusal: AppError | undefined;
  /** Requests in progress: more than one if the client does not wait for responses. */
  busy: number;
  lastUsedMs: number;
  readonly socket: Socket;
}

declare module 'fastify' {
  interface FastifyRequest {
    client: RequestClient;
  }
}

/** The network for limits that the store keeps; undefined for a trusted proxy itself. */
export function findNetwork({ network }: Client): string | undefined {
  return network === UNLIMITED ? undefined : network;
}

export class RequestClient implements Client {
  readonly network: string;
  readonly arrivedMs = performance.now();
  /** Whose limits apply, besides those of its network: its agent's, or those of all readers without a key there. Empty until that is known. */
  name = '';
  /** Undefined until its key was checked, and without a key. */
  agentId: string | undefined = undefined;
  /** Bytes of its body that are counted. */
  bodyBytes = 0;
  /** Whether they are counted until the request ends, because it may wait in a queue with its body. */
  keepsBody = false;
  /** Whether the response was sent or the connection is closed. */
  hasEnded = false;
  /** Its place among those whose responses have a deadline. */
  waiting: Waiting | undefined = undefined;
  /** Whether it got an error because the deadline of the response had passed. */
  isLate = false;
  /** Undefined if it was closed before the request began. */
  readonly connection: Connection | undefined;
  readonly #socket: Socket;
  #leaving: AbortController | undefined;

  constructor(network: string, socket: Socket, connection: Connection | undefined) {
    this.network = network;
    this.#socket = socket;
    this.connection = connection;
  }

  /** Aborted with an error when the client has left, or has got its response. Made when it is first asked for: most requests need none. */
  get signal(): AbortSignal {
    this.#leaving ??= new AbortController();
    if (this.isGone()) this.#leaving.abort(overloaded());
    return this.#leaving.signal;
  }

  end(): void {
    this.hasEnded = true;
    this.#leaving?.abort(overloaded());
  }

  /** Also if it has got its response, as after the deadline of a response. */
  isGone(): boolean {
    return this.hasEnded || this.#socket.destroyed;
  }
}
