// Admission: counts what each client has in progress, refuses what exceeds its share, and lets clients take turns. A client
// is an agent, and its network. Hourly quotas are in usecases/access.ts; connections in connections.ts.
import type { FastifyRequest } from 'fastify';
import { CLIENT_LIMITS, type ClientLimits } from '../../domain/client-limits.ts';
import { AppError } from '../../domain/errors.ts';
import type { Access } from '../endpoint.ts';
import { Bodies } from './bodies.ts';
import { Budget } from './budget.ts';
import { Connections } from './connections.ts';
import { type RequestClient, UNLIMITED } from './request-client.ts';
import { Turns } from './turns.ts';
import { overloaded, WorkQueue } from './work-queue.ts';

/** A request that had to wait longer for its turn is refused. */
const MAX_WAIT_MS = 3_000;
const RETRY_SECONDS = 1;

/** Works of agents at the same time. On the embedded engine they only compute; with a database they also wait for it. */
const AT_ONCE = 2;
const AT_ONCE_WITH_DATABASE = 4;

/** Expensive work of agents, and that of administrators, who so never wait behind agents. */
const AGENT_WORK = { perTurn: 1, waitingPerClient: 256, waiting: 1_024, waitMs: 5_000 };
const ADMIN_WORK = { atOnce: 2, perTurn: 1, waitingPerClient: 64, waiting: 256, waitMs: 5_000 };

/** Requests that need the database. If it does not respond, waiting and then trying must not take much longer than trying. */
const DATABASE_WORK = { waitingPerClient: 1_000, waiting: 4_000, waitMs: 1_000 };

/** Checks of keys: most of them need no database, so they must not all run in one turn. */
const KEYS_PER_TURN = 16;

export class Admission {
  readonly limits: ClientLimits;
  readonly connections: Connections;
  readonly bodies: Bodies;
  /** Encoding other formats, lists, tool calls. */
  readonly agentWork: WorkQueue;
  /** Lists and deletes of administrators. */
  readonly adminWork = new WorkQueue(ADMIN_WORK);
  /** Checks of keys and tokens, and all other requests, if they need the database; undefined for the embedded engine. */
  readonly keyWork: WorkQueue | undefined;
  readonly databaseWork: WorkQueue | undefined;
  readonly #requests: Budget;
  readonly #agentRequests: Budget;
  readonly #turns = new Turns();

  /** `databaseRequests`: requests that use the database at the same time; undefined for the embedded engine. */
  constructor(limits: Partial<ClientLimits> = {}, databaseRequests?: number) {
    this.limits = { ...CLIENT_LIMITS, ...limits };
    const { connections, requests, requestsPerAgent, bodyBytes } = this.limits;
    this.connections = new Connections(connections);
    this.bodies = new Bodies(bodyBytes);
    this.#requests = new Budget(requests);
    this.#agentRequests = new Budget({ perClient: requestsPerAgent, shared: Number.POSITIVE_INFINITY });
    const atOnce = databaseRequests === undefined ? AT_ONCE : AT_ONCE_WITH_DATABASE;
    this.agentWork = new WorkQueue({ ...AGENT_WORK, atOnce });
    if (databaseRequests === undefined) return;
    const limit = { ...DATABASE_WORK, atOnce: databaseRequests };
    this.keyWork = new WorkQueue({ ...limit, perTurn: KEYS_PER_TURN });
    this.databaseWork = new WorkQueue({ ...limit, perTurn: Number.POSITIVE_INFINITY });
  }

  /**
   * Counts the request and calls `start` when it is the client's turn: with the reason if the request is refused, and not at
   * all if the client has left.
   */
  enter(request: FastifyRequest, start: (refusal: AppError | undefined) => void): void {
    const { client } = request;
    const refusal = client.refusal ?? this.#findRefusal(client);
    this.#requests.add(client.network, 1);
    client.onEnd(() => this.#requests.add(client.network, -1));
    // The key as it was sent, not yet checked: clients of one network take turns by it.
    const { 'x-api-key': key, authorization } = request.headers;
    this.#turns.enter(client.network, String(key ?? authorization ?? ''), (waitedMs) => {
      if (waitedMs === 0) start(refusal);
      else if (!client.isGone()) start(refusal ?? (waitedMs > MAX_WAIT_MS ? overloaded() : undefined));
    });
  }

  /** Calls `start` when it is the client's turn. Health checks have turns of their own, and no limit. */
  enterHealthCheck({ client }: FastifyRequest, start: () => void): void {
    this.#turns.enter(`health ${client.network}`, '', () => {
      if (!client.isGone()) start();
    });
  }

  /** Counts a request of an agent whose key was checked. Throws RATE_LIMITED. */
  enterAgent(client: RequestClient, agentId: string): void {
    if (this.#agentRequests.reached(agentId)) {
      throw new AppError(
        'RATE_LIMITED',
        `${this.limits.requestsPerAgent} of your requests are in progress. Wait for their responses, then retry.`,
        { retryAfterSeconds: RETRY_SECONDS },
      );
    }
    client.name = agentId;
    this.#agentRequests.add(agentId, 1);
    client.onEnd(() => this.#agentRequests.add(agentId, -1));
  }

  /** The queue for expensive work of an endpoint with this access. */
  workOf(access: Access): WorkQueue {
    return access === 'administrator' ? this.adminWork : this.agentWork;
  }

  #findRefusal(client: RequestClient): AppError | undefined {
    if (client.network === UNLIMITED) return undefined;
    const reached = this.#requests.reached(client.network);
    if (reached === undefined) return undefined;
    if (reached === 'shared') return overloaded();
    return new AppError(
      'RATE_LIMITED',
      `${this.limits.requests.perClient} requests from your network are in progress. Wait for their responses, then retry.`,
      { retryAfterSeconds: RETRY_SECONDS },
    );
  }
}
