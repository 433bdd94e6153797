// Open connections by network. A network over its share is refused with a response; when nearly all connections are in use,
// the network with the most loses those that have been idle longest, so that others can connect.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Limit } from '../../domain/client-limits.ts';
import { AppError } from '../../domain/errors.ts';
import { clientNetwork } from '../request/client-network.ts';
import { Budget } from './budget.ts';
import { RequestClient, UNLIMITED } from './request-client.ts';
import { overloaded } from './work-queue.ts';

/** Part of all connections from which idle ones are closed. */
const NEARLY_FULL = 0.9;

/** Finding idle connections looks at all of them, so it is rare and closes several. */
const CLOSED_AT_ONCE = 64;
const CLOSE_INTERVAL_MS = 20;

/** Connections above the limit that are still accepted, to send a refusal. */
const REFUSED_AT_ONCE = 500;

/** A refused connection that sends no request is closed after this time. */
const REFUSED_MS = 1_000;

const RETRY_SECONDS = 5;

interface Connection {
  readonly network: string;
  readonly refusal: AppError | undefined;
  /** Requests in progress: more than one if the client does not wait for responses. */
  busy: number;
  lastUsedMs: number;
}

export class Connections {
  readonly #budget: Budget;
  readonly #sockets = new Map<Socket, Connection>();
  #nextCloseMs = 0;

  constructor(limits: Limit) {
    this.#budget = new Budget(limits);
  }

  /** Starts to count the connections of the server. */
  watch(server: Server, isTrustedProxy: (address: string) => boolean): void {
    server.on('connection', (socket: Socket) => this.#open(socket, isTrustedProxy));
  }

  /** Counts a request on its connection until the client's `end`. */
  begin(request: FastifyRequest): RequestClient {
    const { socket } = request.raw;
    const connection = this.#sockets.get(socket);
    const client = new RequestClient(networkOf(request, connection), socket, connection?.refusal);
    if (!connection) return client; // closed meanwhile
    connection.busy++;
    client.onEnd(() => {
      connection.busy--;
      connection.lastUsedMs = performance.now();
    });
    return client;
  }

  #open(socket: Socket, isTrustedProxy: (address: string) => boolean): void {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined) return; // already closed
    const network = isTrustedProxy(remoteAddress) ? UNLIMITED : clientNetwork(remoteAddress);
    const refusal = network === UNLIMITED ? undefined : this.#refusalOf(network);
    if (refusal && this.#sockets.size >= this.#budget.limits.shared + REFUSED_AT_ONCE) {
      socket.destroy();
      return;
    }
    const connection = { network, refusal, busy: 0, lastUsedMs: performance.now() };
    this.#sockets.set(socket, connection);
    // A refused connection is not counted: otherwise a client that keeps trying would stay above its share.
    const isCounted = network !== UNLIMITED && !refusal;
    if (isCounted) this.#budget.add(network, 1);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      if (isCounted) this.#budget.add(network, -1);
    });
    if (refusal) setTimeout(() => connection.busy === 0 && socket.destroy(), REFUSED_MS).unref();
    else if (this.#budget.total > this.#budget.limits.shared * NEARLY_FULL) this.#closeIdle();
  }

  #refusalOf(network: string): AppError | undefined {
    const reached = this.#budget.reached(network);
    if (reached === undefined) return undefined;
    if (reached === 'shared') return overloaded();
    return new AppError(
      'RATE_LIMITED',
      `Your network has ${this.#budget.limits.perClient} connections. Close some, or reuse them, then retry.`,
      { retryAfterSeconds: RETRY_SECONDS },
    );
  }

  /** Closes connections of the network with the most: the idle ones first, the longest idle before the others. */
  #closeIdle(): void {
    const isFull = this.#budget.total >= this.#budget.limits.shared;
    const nowMs = performance.now();
    if (!isFull && nowMs < this.#nextCloseMs) return;
    this.#nextCloseMs = nowMs + CLOSE_INTERVAL_MS;
    const greediest = this.#budget.greediest();
    const own = [...this.#sockets].filter(([, { network, refusal }]) => network === greediest && !refusal);
    const candidates = own.filter(([, { busy }]) => busy === 0);
    candidates.sort(([, a], [, b]) => a.lastUsedMs - b.lastUsedMs);
    // If all are busy, one of them has to go, or nobody else could connect.
    const closed = candidates.length > 0 || !isFull ? candidates.slice(0, CLOSED_AT_ONCE) : own.slice(0, 1);
    for (const [socket] of closed) socket.destroy();
  }
}

/** The network of the client, which is that of the connection unless a trusted proxy forwards the request. */
function networkOf(request: FastifyRequest, connection: Connection | undefined): string {
  if (connection && connection.network !== UNLIMITED) return connection.network;
  const { ip } = request;
  if (!connection) return clientNetwork(ip);
  return ip === request.raw.socket.remoteAddress ? UNLIMITED : clientNetwork(ip);
}
