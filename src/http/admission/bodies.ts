// Bytes of request bodies that are being received, or wait in a queue, by client.
import type { FastifyRequest } from 'fastify';
import type { Limit } from '../../domain/client-limits.ts';
import { AppError } from '../../domain/errors.ts';
import type { BodyMeter } from '../request/body.ts';
import { ClientBudget } from './client-budget.ts';
import type { RequestClient } from './request-client.ts';
import { overloaded } from './work-queue.ts';

const RETRY_SECONDS = 2;

export class Bodies implements BodyMeter {
  readonly #budget: ClientBudget;

  constructor(limit: Limit) {
    this.#budget = new ClientBudget(limit);
  }

  /** Throws RATE_LIMITED if the client sends too much at a time, OVERLOADED if all clients together do. */
  received({ client }: FastifyRequest, bytes: number): void {
    const reached = this.#budget.reached(client);
    if (reached === 'perClient') {
      throw new AppError(
        'RATE_LIMITED',
        'You or your network send too many bytes of request bodies at a time. Wait until some requests are finished, then retry.',
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
