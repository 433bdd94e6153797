// A budget: how much of one resource each client uses, with a limit per client and one for all together. When the shared
// limit is reached, only clients that use at least the average are refused, so nobody can use it up for the others.
import type { Limit } from '../../domain/client-limits.ts';
import type { RequestClient } from './request-client.ts';
import { UNLIMITED } from './work-queue.ts';

/** Unused accounts that are kept: most clients come back at once. */
const KEPT_ACCOUNTS = 1_000;

interface Account {
  used: number;
}

export class Budget {
  readonly limits: Limit;
  readonly #accounts = new Map<string, Account>();
  /** Clients that use something. */
  #active = 0;
  #total = 0;

  constructor(limits: Limit) {
    this.limits = limits;
  }

  get total(): number {
    return this.#total;
  }

  usedBy(client: string): number {
    return this.#accounts.get(client)?.used ?? 0;
  }

  /** The client that uses the most. */
  greediest(): string | undefined {
    let greediest: string | undefined;
    let most = 0;
    for (const [client, { used }] of this.#accounts) {
      if (used <= most) continue;
      greediest = client;
      most = used;
    }
    return greediest;
  }

  /** The limit, or the given part of it, that keeps the client from using more; undefined if there is none. */
  reached(client: string, part = 1): keyof Limit | undefined {
    return this.#reachedWith(this.usedBy(client), part);
  }

  /** Counts use, or, with a negative amount, the end of it. Checks no limit. */
  add(client: string, amount: number): void {
    if (amount !== 0) this.#add(this.#accountOf(client), amount);
  }

  /** Counts one more in any case. Returns what `reached` returned before. */
  addOne(client: string): keyof Limit | undefined {
    const account = this.#accountOf(client);
    const reached = this.#reachedWith(account.used);
    this.#add(account, 1);
    return reached;
  }

  #reachedWith(used: number, part = 1): keyof Limit | undefined {
    if (used >= this.limits.perClient * part) return 'perClient';
    if (this.#total < this.limits.shared * part) return undefined;
    return used * this.#active >= this.#total ? 'shared' : undefined;
  }

  #accountOf(client: string): Account {
    const known = this.#accounts.get(client);
    if (known) return known;
    const account = { used: 0 };
    this.#accounts.set(client, account);
    return account;
  }

  #add(account: Account, amount: number): void {
    if (account.used === 0) this.#active++;
    account.used += amount;
    this.#total += amount;
    if (account.used === 0 && this.#accounts.size > 2 * --this.#active + KEPT_ACCOUNTS) this.#forget();
  }

  #forget(): void {
    for (const [client, { used }] of this.#accounts) if (used === 0) this.#accounts.delete(client);
  }
}

/** How many times as much as an agent a network may use. */
export const NETWORK_FACTOR = 2;

/**
 * A budget of bytes for agents and their networks. An agent that uses nothing is admitted even if its network has used up its share, so
 * that clients behind one address do not suffer from each other; but not if nothing is left at all, because one network can have
 * hundreds of agents.
 */
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
