// How the HTTP server stops. A single process finishes running requests and closes. A node behind a load balancer first drains: it
// still serves, but closes the connection after every response. At the end it refuses requests that the load balancer can send to
// another node. So a rolling restart drops no request.
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ResponseDeadline } from './admission/deadline.ts';
import type { Listener } from './listen.ts';

/** Time from the beginning of a shutdown for running requests to finish; then those that wait get an error. */
const FINISH_TIMEOUT_MS = 3_750;

/** Then all connections are closed. */
const CLOSE_TIMEOUT_MS = 4_000;

/**
 * How long a draining node still serves. Longer than two times of the nodes in deploy/nginx.conf: keepalive_timeout, so that nginx
 * has closed its idle connections, and fail_timeout, so that nginx uses the node again that was restarted just before.
 */
const DRAIN_MS = 2_250;

/** How long it then refuses requests that the load balancer can retry on another node. So the load balancer notices that it leaves. */
const SEND_ELSEWHERE_MS = 500;

export class Shutdown {
  #beganMs: number | undefined;
  #isLeaving = false;

  /** Whether it has begun: then every response closes its connection. */
  get isStopping(): boolean {
    return this.#beganMs !== undefined;
  }

  /**
   * Whether to close the connection of this request without a response: X-Next-Upstream says that the load balancer then retries. Other
   * nodes are faster than one that is loading, too.
   */
  sendsElsewhere({ method, headers }: FastifyRequest, isLoading: boolean): boolean {
    const isRead = method === 'GET' || method === 'HEAD';
    return (this.#isLeaving || isLoading) && headers['x-next-upstream'] !== undefined && isRead;
  }

  /** Waits until the load balancer sends nothing more, which takes a fixed time. */
  async drain(): Promise<void> {
    this.#beganMs = performance.now();
    await sleep(DRAIN_MS);
    this.#isLeaving = true;
    await sleep(SEND_ELSEWHERE_MS);
  }

  /** Closes the port, and keep-alive connections as soon as they are idle: otherwise they would keep the server open. */
  async close(
    app: FastifyInstance,
    listener: Listener | undefined,
    deadline: ResponseDeadline,
  ): Promise<void> {
    this.#beganMs ??= performance.now();
    await listener?.stopAccepting();
    const sweep = setInterval(() => app.server.closeIdleConnections(), 50);
    const untilMs = (timeoutMs: number) => this.#beganMs! + timeoutMs - performance.now();
    const refusal = setTimeout(() => deadline.endAll(), untilMs(FINISH_TIMEOUT_MS));
    const cut = setTimeout(() => app.server.closeAllConnections(), untilMs(CLOSE_TIMEOUT_MS));
    try {
      await Promise.all([app.close(), listener?.closed()]);
    } finally {
      clearInterval(sweep);
      clearTimeout(refusal);
      clearTimeout(cut);
    }
  }
}
