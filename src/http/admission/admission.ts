// Admission: counts what each client has in progress, refuses what exceeds its share, and starts requests in fair order. A request
// counts twice: for its agent and for its network. Hourly quotas are in usecases/access.ts; connections in connections.ts.
import type { FastifyRequest } from 'fastify';
import { CLIENT_LIMITS, type ClientLimits, type Limit } from '../../domain/client-limits.ts';
import { AppError, type RefusedBy } from '../../domain/errors.ts';
import { Metrics } from '../../metrics/metrics.ts';
import type { BodyMeter } from '../request/body.ts';
import { Budget, ClientBudget, NETWORK_FACTOR } from './budget.ts';
import { Connections, Refusals } from './connections.ts';
import type { RequestClient } from './request-client.ts';
import { RequestQueue } from './request-queue.ts';
import { overloaded, UNLIMITED, WorkQueue } from './work-queue.ts';

/** Maximum time that a request waits to start; after that, it is refused. */
const MAX_WAIT_MS = 3_000;
const RETRY_SECONDS = 1;

/** Maximum number of requests in progress on one connection (HTTP pipelining). */
const MAX_REQUESTS_PER_CONNECTION = 128;

/** Maximum number of requests of a network above its limit whose refusals are being sent. */
const MAX_REFUSED = 1_000;

/** Expensive works of agents at the same time. On the embedded engine they only compute; with a database they also wait for it. */
const AT_ONCE = 2;
const AT_ONCE_WITH_DATABASE = 4;

/**
 * Turns of the event loop without expensive work, after one with it. Node accepts only a few connections per turn: with work in every
 * turn, a new client would wait for many works.
 */
const PAUSE_TURNS = 3;

/** Expensive work of agents. Administrators have a queue of their own, so they never wait behind agents. */
const AGENT_WORK = {
  perTurn: 1,
  pauseTurns: PAUSE_TURNS,
  waitingPerClient: 256,
  waiting: 1_024,
  waitMs: 5_000,
};
/**
 * Searches for prefixes look at millions of words in the worst case. They pause every few milliseconds, so many may run at once; but
 * each takes memory, and on PostgreSQL a connection if it uses SQL.
 */
const PREFIX_SEARCHES = {
  atOnce: 16,
  atOncePerClient: 1,
  atOncePerNetwork: 2,
  perTurn: Number.POSITIVE_INFINITY,
  waitingPerClient: 256,
  waiting: 1_024,
  waitMs: 5_000,
};
const ADMIN_WORK = {
  atOnce: 3,
  atOncePerClient: 2, // the lists of one do not delay another's
  perTurn: 1,
  waitingPerClient: 64,
  waiting: 256,
  waitMs: 5_000,
};

/** Requests that need the database. If it does not respond, the wait here must add little to the time until they fail. */
const DATABASE_WORK = { waitingPerClient: 1_000, waiting: 4_000, waitMs: 1_000 };

/** Checks of keys that begin in one turn of the event loop. Most need no database, so many could run in the same turn. */
const KEYS_PER_TURN = 16;

/** Reasons for cutting off a client. They are never sent, and made only once: those who are cut off are many. */
const EXCESS = {
  onConnection: cutOffBy('requests_per_connection'),
  ofNetwork: cutOffBy('requests_per_network'),
};

export class Admission {
  readonly limits: ClientLimits;
  readonly connections: Connections;
  readonly bodies: Bodies;
  readonly refusals: Refusals;
  /** Encoding other formats, lists, tool calls. */
  readonly agentWork: WorkQueue;
  /** Searches of agents for words that begin with a prefix. */
  readonly prefixSearches: WorkQueue;
  /** Lists and deletes of administrators. */
  readonly adminWork: WorkQueue;
  /** Checks of keys, and all other requests, if they need the database; undefined for the embedded engine. */
  readonly #keyWork: WorkQueue | undefined;
  readonly databaseWork: WorkQueue | undefined;
  readonly #requests: Budget;
  readonly #agentRequests: Budget;
  readonly #queue: RequestQueue;

  /** `databaseRequests`: requests that use the database at the same time; undefined for the embedded engine. */
  constructor(limits: Partial<ClientLimits> = {}, databaseRequests?: number, metrics = new Metrics()) {
    this.limits = { ...CLIENT_LIMITS, ...limits };
    const { connections, requests, requestsPerAgent, bodyBytes } = this.limits;
    this.refusals = new Refusals(metrics);
    this.connections = new Connections(connections, metrics, this.refusals);
    this.bodies = new Bodies(bodyBytes);
    this.#requests = new Budget(requests);
    this.#agentRequests = new Budget({ perClient: requestsPerAgent, shared: Number.POSITIVE_INFINITY });
    const atOnce = databaseRequests === undefined ? AT_ONCE : AT_ONCE_WITH_DATABASE;
    this.#queue = new RequestQueue(metrics);
    this.agentWork = new WorkQueue({ ...AGENT_WORK, atOnce }, 'agent_work', metrics);
    this.prefixSearches = new WorkQueue(PREFIX_SEARCHES, 'prefix_searches', metrics);
    this.adminWork = new WorkQueue(ADMIN_WORK, 'admin_work', metrics);
    metrics.gauge('http_server_active_requests', 'Requests in progress.', () => this.#requests.total);
    if (databaseRequests === undefined) return;
    const limit = { ...DATABASE_WORK, atOnce: databaseRequests };
    this.#keyWork = new WorkQueue({ ...limit, perTurn: KEYS_PER_TURN }, 'keys', metrics);
    const perTurn = Number.POSITIVE_INFINITY;
    this.databaseWork = new WorkQueue({ ...limit, perTurn }, 'database_work', metrics);
  }

  /** Counts the request; `leave` must follow. Returns the reason if it must be refused. */
  enter(client: RequestClient): AppError | undefined {
    const reached = this.#requests.addOne(client.network);
    return client.connection?.refusal ?? (reached && this.#refusalOf(client, reached));
  }

  /**
   * The reason if the client must be cut off: it sends so much more than it may have in progress that even refusals take memory and time
   * from others.
   */
  findExcess({ network, connection }: RequestClient): AppError | undefined {
    if (connection && connection.busy > MAX_REQUESTS_PER_CONNECTION) return EXCESS.onConnection;
    const { perClient } = this.limits.requests;
    const hasTooMany = network !== UNLIMITED && this.#requests.usedBy(network) > perClient + MAX_REFUSED;
    return hasTooMany ? EXCESS.ofNetwork : undefined;
  }

  /** Releases what was counted for the request: its response was sent, or its connection is closed. */
  leave(client: RequestClient, nowMs: number): void {
    client.end();
    this.connections.end(client, nowMs);
    this.bodies.release(client);
    this.#requests.add(client.network, -1);
    if (client.name !== '') this.#agentRequests.add(client.name, -1);
  }

  /**
   * Calls `start` at once or, during a flood, in fair order. If the wait was too long, passes OVERLOADED; if the client has left, does
   * not call it. Health checks do not wait behind other requests of their network.
   */
  startInOrder(request: FastifyRequest, isHealthCheck: boolean, start: (refusal?: AppError) => void): void {
    const { client } = request;
    if (this.#queue.mayStart(client.arrivedMs)) {
      start();
      return;
    }
    const network = isHealthCheck ? `health ${client.network}` : client.network;
    this.#queue.wait(network, sentKey(request), client.arrivedMs, (waitedMs) => {
      if (client.isGone()) return false;
      start(waitedMs > MAX_WAIT_MS ? overloaded('turn') : undefined);
      return true;
    });
  }

  /** Counts a request of an agent whose key was checked. Throws RATE_LIMITED. */
  enterAgent(client: RequestClient, agentId: string): void {
    if (client.hasEnded) return; // `leave` was called while the key was being checked
    client.agentId = agentId;
    this.#enter(client, agentId);
  }

  /** Counts a request without a key. All of these from one network together may have as much as one agent. Throws RATE_LIMITED. */
  enterReader(client: RequestClient): void {
    if (!client.hasEnded) this.#enter(client, `public ${client.network}`);
  }

  #enter(client: RequestClient, name: string): void {
    client.name = name;
    if (this.#agentRequests.addOne(name)) {
      throw new AppError(
        'RATE_LIMITED',
        `${this.limits.requestsPerAgent} of your requests are in progress. Wait for their responses, then retry.`,
        { retryAfterSeconds: RETRY_SECONDS, refusedBy: 'requests_per_agent' },
      );
    }
  }

  /** Checks the key of an agent, in fair order. */
  checkKey<T>(request: FastifyRequest, check: () => Promise<T>): Promise<T> {
    return this.#keyWork ? this.#keyWork.run(request.client, check, sentKey(request)) : check();
  }

  #refusalOf({ network }: RequestClient, reached: keyof Limit): AppError | undefined {
    if (network === UNLIMITED) return undefined;
    if (reached === 'shared') return overloaded('requests');
    return new AppError(
      'RATE_LIMITED',
      `${this.limits.requests.perClient} requests from your network are in progress. Wait for their responses, then retry.`,
      { retryAfterSeconds: RETRY_SECONDS, refusedBy: 'requests_per_network' },
    );
  }
}

const BODY_RETRY_SECONDS = 2;

/** Part of the limit above which no body may begin. The rest is for bodies that have begun. */
const NEW_BODIES_PART = 0.75;

/** Counts bytes of request bodies by client, while they are received or wait in a queue. */
class Bodies implements BodyMeter {
  readonly #limit: Limit;
  readonly #budget: ClientBudget;

  constructor(limit: Limit) {
    this.#limit = limit;
    this.#budget = new ClientBudget(limit);
  }

  /** Throws RATE_LIMITED if the client sends too much at a time, OVERLOADED if all clients together do. */
  received({ client }: FastifyRequest, bytes: number): void {
    const reached = this.#budget.reached(client, bytes === 0 ? NEW_BODIES_PART : 1);
    if (reached === 'perClient') {
      const mebibytes = Math.round(this.#limit.perClient / 2 ** 20);
      throw new AppError(
        'RATE_LIMITED',
        `You may send at most ${mebibytes} MiB of request bodies at a time, and all clients of your network together ${NETWORK_FACTOR * mebibytes} MiB. Wait for responses, then retry.`,
        { retryAfterSeconds: BODY_RETRY_SECONDS, refusedBy: 'bodies_per_client' },
      );
    }
    if (reached) throw overloaded('bodies');
    client.bodyBytes += bytes;
    this.#budget.add(client, bytes);
  }

  finished({ client }: FastifyRequest): void {
    if (!client.keepsBody) this.release(client);
  }

  /** Stops counting the body; does nothing if it is not counted any more. */
  release(client: RequestClient): void {
    this.#budget.add(client, -client.bodyBytes);
    client.bodyBytes = 0;
  }
}

function cutOffBy(refusedBy: RefusedBy): AppError {
  return new AppError('RATE_LIMITED', 'Too many requests are in progress.', { refusedBy });
}

/** The key as it was sent, not yet checked: it tells apart the clients of one network. */
function sentKey({ headers }: FastifyRequest): string {
  return String(headers['x-api-key'] ?? headers.authorization ?? '');
}
