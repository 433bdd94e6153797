// Bytes of request bodies that are being received, by client.
import type { FastifyRequest } from 'fastify';
import type { Limit } from '../../domain/client-limits.ts';
import { AppError } from '../../domain/errors.ts';
import type { BodyMeter } from '../request/body.ts';
import { Budget } from './budget.ts';
import { UNLIMITED } from './request-client.ts';
import { overloaded } from './work-queue.ts';

const RETRY_SECONDS = 2;

export class Bodies implements BodyMeter {
  readonly #limit: Limit;
  readonly #networks: Budget;
  readonly #agents: Budget;

  constructor(limit: Limit) {
    this.#limit = limit;
    this.#networks = new Budget(limit);
    this.#agents = new Budget({ ...limit, shared: Number.POSITIVE_INFINITY });
  }

  /** Bytes of all bodies that are being received. */
  get bytes(): number {
    return this.#networks.total;
  }

  /** Throws RATE_LIMITED if the client sends too much at a time, OVERLOADED if all clients together do. */
  received({ client }: FastifyRequest, bytes: number): void {
    const { network, name } = client;
    const reached = network === UNLIMITED ? undefined : this.#networks.reached(network);
    if (reached === 'perClient' || this.#agents.reached(name)) {
      const mebibytes = Math.round(this.#limit.perClient / 2 ** 20);
      throw new AppError(
        'RATE_LIMITED',
        `${mebibytes} MiB of request bodies from you are being received. Wait until they are, then retry.`,
        { retryAfterSeconds: RETRY_SECONDS },
      );
    }
    if (reached) throw overloaded();
    this.#add(client, bytes);
  }

  finished({ client }: FastifyRequest): void {
    this.#add(client, -client.bodyBytes);
  }

  #add(client: FastifyRequest['client'], bytes: number): void {
    client.bodyBytes += bytes;
    this.#networks.add(client.network, bytes);
    if (client.name !== '') this.#agents.add(client.name, bytes);
  }
}
