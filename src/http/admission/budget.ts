// A budget: how much of one resource each client uses, with a limit per client and one for all together. When the shared
// limit is reached, only clients that use at least the average are refused, so nobody can use it up for the others.
import type { Limit } from '../../domain/client-limits.ts';

export class Budget {
  readonly limits: Limit;
  readonly #used = new Map<string, number>();
  #total = 0;

  constructor(limits: Limit) {
    this.limits = limits;
  }

  get total(): number {
    return this.#total;
  }

  usedBy(client: string): number {
    return this.#used.get(client) ?? 0;
  }

  /** The client that uses the most. */
  greediest(): string | undefined {
    let greediest: string | undefined;
    let most = 0;
    for (const [client, used] of this.#used) {
      if (used <= most) continue;
      greediest = client;
      most = used;
    }
    return greediest;
  }

  /** The limit that keeps the client from using more; undefined if there is none. */
  reached(client: string): keyof Limit | undefined {
    const used = this.usedBy(client);
    if (used >= this.limits.perClient) return 'perClient';
    if (this.#total < this.limits.shared) return undefined;
    return used * this.#used.size >= this.#total ? 'shared' : undefined;
  }

  /** Counts use, or, with a negative amount, the end of it. Checks no limit. */
  add(client: string, amount: number): void {
    if (amount === 0) return;
    const used = this.usedBy(client) + amount;
    if (used === 0) this.#used.delete(client);
    else this.#used.set(client, used);
    this.#total += amount;
  }
}
