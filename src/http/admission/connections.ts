// Open connections by network. A network over its share is refused with a response; when nearly all connections are in use,
// the network with the most loses those that have been idle longest, so that others can connect.
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { FastifyRequest } from 'fastify';
import type { Limit } from '../../domain/client-limits.ts';
import { AppError, LIMITS, QUOTAS, type RefusedBy } from '../../domain/errors.ts';
import { type Count, Metrics } from '../../metrics/metrics.ts';
import { Budget } from './budget.ts';
import { type Connection, RequestClient } from './request-client.ts';
import { overloaded, UNLIMITED } from './work-queue.ts';

/** Part of all connections from which idle ones are closed. */
const NEARLY_FULL = 0.9;

/** Finding idle connections looks at all of them, so it is rare and closes several. */
const CLOSED_AT_ONCE = 64;
const CLOSE_INTERVAL_MS = 20;
const CUT_AT_ONCE = 8;

/** Connections above the limit that are still accepted, to send a refusal. */
const REFUSED_AT_ONCE = 500;

/** A refused connection that sends no request is closed after this time. */
const REFUSED_MS = 1_000;

const RETRY_SECONDS = 5;

/** Every request needs its connection: a property is found faster than an entry of a Map. */
const CONNECTION = Symbol('connection');
type WatchedSocket = Socket & { [CONNECTION]?: Connection | undefined };

/** A socket with its parser, which node:http does not document. */
type ParsedSocket = Socket & {
  readonly parser?: { onIncoming: () => number } | null;
};
const STOP_PARSING = -1;

/** Who is at an address. */
export interface Addresses {
  isTrustedProxy(address: string): boolean;
  networkOf(address: string): string;
}

export class Connections {
  readonly #budget: Budget;
  readonly #sockets = new Map<Socket, Connection>();
  #nextCloseMs = 0;
  #addresses!: Addresses;
  readonly #refusals: Refusals;

  constructor(limits: Limit, metrics = new Metrics(), refusals = new Refusals(metrics)) {
    this.#budget = new Budget(limits);
    this.#refusals = refusals;
    const count = (isBusy: boolean) => {
      let found = 0;
      for (const { busy } of this.#sockets.values()) if (busy > 0 === isBusy) found++;
      return found;
    };
    const gauge = (state: string, isBusy: boolean) =>
      metrics.gauge('http_server_connections', 'Open connections of clients.', () => count(isBusy), {
        state,
      });
    gauge('active', true);
    gauge('idle', false);
  }

  /** Starts to count the connections of the server. */
  watch(server: Server, addresses: Addresses): void {
    this.#addresses = addresses;
    server.on('connection', (socket: Socket) => this.#open(socket));
  }

  /** Counts a request on its connection; `end` must follow. */
  begin(request: FastifyRequest): RequestClient {
    const { socket } = request.raw;
    const connection = (socket as WatchedSocket)[CONNECTION];
    if (connection) connection.busy++;
    return new RequestClient(this.#networkOfRequest(request, connection), socket, connection);
  }

  /** Whether the request comes from a trusted proxy. */
  isFromProxy({ socket }: IncomingMessage): boolean {
    return (socket as WatchedSocket)[CONNECTION]?.network === UNLIMITED;
  }

  /** The network of a client whose request could not be parsed. */
  networkOf(socket: Socket): string | undefined {
    return (socket as WatchedSocket)[CONNECTION]?.network;
  }

  end({ connection }: RequestClient, nowMs: number): void {
    if (!connection) return;
    connection.busy--;
    connection.lastUsedMs = nowMs;
    // A response that was not a refusal, such as that of a health check, would leave it open and uncounted.
    if (connection.refusal && connection.busy === 0) connection.socket.destroySoon();
  }

  /** The network of the client, which is that of the connection unless a trusted proxy forwards the request. */
  #networkOfRequest(request: FastifyRequest, connection: Connection | undefined): string {
    if (connection && connection.network !== UNLIMITED) return connection.network;
    const { ip } = request;
    const isProxy = connection !== undefined && ip === request.raw.socket.remoteAddress;
    return isProxy ? UNLIMITED : this.#addresses.networkOf(ip);
  }

  #open(socket: WatchedSocket): void {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined) return; // already closed
    const { isTrustedProxy, networkOf } = this.#addresses;
    const network = isTrustedProxy(remoteAddress) ? UNLIMITED : networkOf(remoteAddress);
    const refusal = network === UNLIMITED ? undefined : this.#refusalOf(network);
    if (refusal && this.#sockets.size >= this.#budget.limits.shared + REFUSED_AT_ONCE) {
      socket.destroy();
      this.#refusals.count(refusal);
      return;
    }
    const connection = { network, refusal, busy: 0, lastUsedMs: performance.now(), socket };
    this.#sockets.set(socket, connection);
    socket[CONNECTION] = connection;
    // A refused connection is not counted: otherwise a client that keeps trying would stay above its share.
    const isCounted = network !== UNLIMITED && !refusal;
    if (isCounted) this.#budget.add(network, 1);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      socket[CONNECTION] = undefined;
      if (isCounted) this.#budget.add(network, -1);
    });
    if (refusal) setTimeout(() => connection.busy === 0 && socket.destroy(), REFUSED_MS).unref();
    else if (this.#budget.total > this.#budget.limits.shared * NEARLY_FULL) this.#closeIdle();
  }

  #refusalOf(network: string): AppError | undefined {
    const reached = this.#budget.reached(network);
    if (reached === undefined) return undefined;
    if (reached === 'shared') return overloaded('connections');
    return new AppError(
      'RATE_LIMITED',
      `Your network has ${this.#budget.limits.perClient} connections. Close some, or reuse them, then retry.`,
      { retryAfterSeconds: RETRY_SECONDS, refusedBy: 'connections_per_network' },
    );
  }

  /** Closes connections of the network with the most: the idle ones first, the longest idle before the others. */
  #closeIdle(): void {
    const nowMs = performance.now();
    if (nowMs < this.#nextCloseMs) return;
    this.#nextCloseMs = nowMs + CLOSE_INTERVAL_MS;
    const greediest = this.#budget.greediest();
    const own = [...this.#sockets].filter(([, { network, refusal }]) => network === greediest && !refusal);
    const candidates = own.filter(([, { busy }]) => busy === 0);
    candidates.sort(([, a], [, b]) => a.lastUsedMs - b.lastUsedMs);
    // If all are busy, some of them have to go, or nobody else could connect.
    const isFull = this.#budget.total >= this.#budget.limits.shared;
    const closed =
      candidates.length > 0 || !isFull ? candidates.slice(0, CLOSED_AT_ONCE) : own.slice(0, CUT_AT_ONCE);
    for (const [socket] of closed) socket.destroy();
  }
}

/**
 * Closes the connection of a request at once. The client may have sent thousands of requests, and node:http would parse all
 * that have arrived, and make an error with a stack for each: seconds of work that a few connections can send.
 */
export function cutOff({ socket }: IncomingMessage): void {
  const { parser } = socket as ParsedSocket;
  if (parser) parser.onIncoming = () => STOP_PARSING;
  socket.destroy();
}

/** Counts refusals by the limit or quota that refused. All series exist from the start: a rate needs a zero to begin with. */
export class Refusals {
  readonly #counts = new Map<RefusedBy, Count>();

  constructor(metrics = new Metrics()) {
    for (const cause of LIMITS) {
      const help = 'Requests and connections refused, by the limit.';
      this.#counts.set(cause, metrics.counter('local_events_refusals_total', help, { cause }));
    }
    for (const quota of QUOTAS) {
      const help = 'Requests refused because an hourly quota is used up.';
      this.#counts.set(
        `quota ${quota}`,
        metrics.counter('local_events_quota_refusals_total', help, { quota }),
      );
    }
  }

  /** Counts the error if it is a refusal. */
  count(error: unknown): void {
    if (error instanceof AppError && error.refusedBy) this.countOne(error.refusedBy);
  }

  countOne(refusedBy: RefusedBy): void {
    this.#counts.get(refusedBy)!.value++;
  }
}
