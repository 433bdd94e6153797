// The order in which waiting work of many clients is served: networks take turns, within a network its clients take turns,
// and each client's own work keeps its order. Networks with little waiting come before those with much, which still get every
// fourth turn. So a client that sends much waits behind itself, not before others.

/** A network with more waiting items has much. */
const LITTLE = 4;

/** Turns of networks with little waiting before one of those with much. */
const TURNS_IN_ROW = 3;

interface Network<T> {
  /** In the order of their next turn; none is empty. */
  readonly clients: Map<string, T[]>;
  size: number;
}

export class FairOrder<T> {
  /** Both in the order of their next turn; no network is empty. */
  readonly #little = new Map<string, Network<T>>();
  readonly #much = new Map<string, Network<T>>();
  #turnsInRow = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get networks(): number {
    return this.#little.size + this.#much.size;
  }

  push(name: string, client: string, item: T): void {
    const network = this.#find(name) ?? { clients: new Map<string, T[]>(), size: 0 };
    const items = network.clients.get(client);
    if (items) items.push(item);
    else network.clients.set(client, [item]);
    this.#size++;
    if (network.size++ === 0) this.#little.set(name, network);
    else if (network.size === LITTLE + 1 && this.#little.delete(name)) this.#much.set(name, network);
  }

  /** Removes and returns the next item. */
  shift(): T | undefined {
    const first = this.#choose().entries().next().value;
    if (!first) return undefined;
    const [name, network] = first;
    const [client, items] = network.clients.entries().next().value!;
    network.clients.delete(client);
    const item = items.shift()!;
    if (items.length > 0) network.clients.set(client, items);
    this.#little.delete(name);
    this.#much.delete(name);
    this.#size--;
    if (--network.size > 0) (network.size > LITTLE ? this.#much : this.#little).set(name, network);
    return item;
  }

  /** Number of waiting items of the client. */
  countOf(name: string, client: string): number {
    return this.#find(name)?.clients.get(client)?.length ?? 0;
  }

  #find(name: string): Network<T> | undefined {
    return this.#little.get(name) ?? this.#much.get(name);
  }

  #choose(): Map<string, Network<T>> {
    if (this.#little.size > 0 && (this.#much.size === 0 || this.#turnsInRow < TURNS_IN_ROW)) {
      this.#turnsInRow++;
      return this.#little;
    }
    this.#turnsInRow = 0;
    return this.#much;
  }
}
