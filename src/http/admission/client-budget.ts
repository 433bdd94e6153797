// A budget of bytes for agents and their networks. An agent that uses nothing is admitted even if its network has used up its
// share, so that clients behind one address do not suffer from each other; but not if nothing is left at all, because one
// network can have hundreds of agents.
import type { Limit } from '../../domain/client-limits.ts';
import { Budget } from './budget.ts';
import type { RequestClient } from './request-client.ts';
import { UNLIMITED } from './work-queue.ts';

/** How many times as much as an agent a network may use. */
export const NETWORK_FACTOR = 2;

export class ClientBudget {
  readonly #agents: Budget;
  readonly #networks: Budget;

  constructor({ perClient, shared }: Limit) {
    this.#agents = new Budget({ perClient, shared: Number.POSITIVE_INFINITY });
    this.#networks = new Budget({ perClient: NETWORK_FACTOR * perClient, shared });
  }

  get total(): number {
    return this.#networks.total;
  }

  /** The limit, or the given part of it, that keeps the client from using more; undefined if there is none. */
  reached({ network, name }: RequestClient, part = 1): keyof Limit | undefined {
    if (this.total === 0) return undefined;
    if (name !== '' && this.#agents.reached(name, part)) return 'perClient';
    const reached = network === UNLIMITED ? undefined : this.#networks.reached(network, part);
    const usesNothing = name !== '' && this.#agents.usedBy(name) === 0;
    if (reached !== 'perClient' || !usesNothing) return reached;
    return this.total < this.#networks.limits.shared * part ? undefined : 'shared';
  }

  /** Counts use, or, with a negative amount, the end of it. Checks no limit. */
  add({ network, name }: RequestClient, bytes: number): void {
    this.#networks.add(network, bytes);
    if (name !== '') this.#agents.add(name, bytes);
  }
}
