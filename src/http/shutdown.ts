// How the HTTP server stops. Alone, it finishes running requests and closes. A node of several first drains: it goes on serving, but
// keeps no connection, and at last turns away what the load balancer can send elsewhere. So a rolling restart drops no request.
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Listener } from './listen.ts';

/** Time from the beginning of a shutdown for running requests to finish; then their connections are closed. */
const CLOSE_TIMEOUT_MS = 4_000;

/**
 * How long a node goes on serving. deploy/nginx.conf has shorter times: for idle connections, which it closes meanwhile, and for
 * trying a node again that did not respond, such as the one that was restarted before.
 */
const DRAIN_MS = 2_250;

/** How long it then turns away what the load balancer sends elsewhere, which so learns that this node is gone. */
const TURN_AWAY_MS = 500;

export class Shutdown {
  #beganMs: number | undefined;
  #isLeaving = false;

  /** Whether it has begun: then every response closes its connection. */
  get isStopping(): boolean {
    return this.#beganMs !== undefined;
  }

  /** Whether the connection of this request must be closed without a response: its sender says that it then asks another node. */
  turnsAway({ method, headers }: FastifyRequest): boolean {
    return (
      this.#isLeaving && headers['x-next-upstream'] !== undefined && (method === 'GET' || method === 'HEAD')
    );
  }

  /** Resolves when the load balancer sends nothing more. */
  async drain(): Promise<void> {
    this.#beganMs = performance.now();
    await sleep(DRAIN_MS);
    this.#isLeaving = true;
    await sleep(TURN_AWAY_MS);
  }

  /** Closes the port, and keep-alive connections as soon as they are idle: otherwise they would keep the server open. */
  async close(app: FastifyInstance, listener: Listener | undefined): Promise<void> {
    this.#beganMs ??= performance.now();
    await listener?.stopAccepting();
    const sweep = setInterval(() => app.server.closeIdleConnections(), 50);
    const leftMs = this.#beganMs + CLOSE_TIMEOUT_MS - performance.now();
    const deadline = setTimeout(() => app.server.closeAllConnections(), leftMs);
    try {
      await Promise.all([app.close(), listener?.closed()]);
    } finally {
      clearInterval(sweep);
      clearTimeout(deadline);
    }
  }
}
