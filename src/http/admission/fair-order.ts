// The order in which waiting work of many clients is served: networks take turns, within a network its clients take turns,
// and each client's own work keeps its order. So a client that sends much waits behind itself, not before others.

export class FairOrder<T> {
  /** Both levels are in the order of their next turn. None is empty. */
  readonly #networks = new Map<string, Map<string, T[]>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get networks(): number {
    return this.#networks.size;
  }

  push(network: string, client: string, item: T): void {
    const clients = this.#networks.getOrInsertComputed(network, () => new Map());
    const items = clients.get(client);
    if (items) items.push(item);
    else clients.set(client, [item]);
    this.#size++;
  }

  /** Removes and returns the next item. */
  shift(): T | undefined {
    for (const [network, clients] of this.#networks) {
      for (const [client, items] of clients) {
        const item = items.shift()!;
        this.#size--;
        clients.delete(client);
        if (items.length > 0) clients.set(client, items);
        this.#networks.delete(network);
        if (clients.size > 0) this.#networks.set(network, clients);
        return item;
      }
    }
    return undefined;
  }

  /** Number of waiting items of the client. */
  countOf(network: string, client: string): number {
    return this.#networks.get(network)?.get(client)?.length ?? 0;
  }
}
