// Bytes of request bodies that are being received, or wait in a queue, by client.
import type { FastifyRequest } from 'fastify';
import type { Limit } from '../../domain/client-limits.ts';
import { AppError } from '../../domain/errors.ts';
import type { BodyMeter } from '../request/body.ts';
import { ClientBudget, NETWORK_FACTOR } from './client-budget.ts';
import type { RequestClient } from './request-client.ts';
import { overloaded } from './work-queue.ts';

const RETRY_SECONDS = 2;

/** Part of a limit from which on no new body is begun, so that those that were begun can end. */
const NEW_BODIES_PART = 0.75;

export class Bodies implements BodyMeter {
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
        { retryAfterSeconds: RETRY_SECONDS, refusedBy: 'bodies_per_client' },
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
