// The order in which waiting work of many clients is served: networks take turns, within a network its clients take turns,
// and each client's own work keeps its order. Those with little waiting come before those with much, which still get every
// fourth turn. So a client that sends much waits behind itself, not before others, not even before those of its network.

/** Whoever has more waiting items has much. */
const LITTLE = 4;

/** Turns of those with little waiting before one of those with much. */
const TURNS_IN_ROW = 3;

export class FairOrder<T> {
  readonly #networks = new Round<Network<T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get networks(): number {
    return this.#networks.size;
  }

  push(name: string, client: string, item: T): void {
    const network = this.#networks.find(name) ?? new Network<T>();
    network.push(client, item);
    this.#networks.add(name, network);
    this.#size++;
  }

  /** Removes and returns the next item. */
  shift(): T | undefined {
    const item = this.#networks.takeTurn((network) => network.shift());
    if (item !== undefined) this.#size--;
    return item;
  }

  /** Number of waiting items of the client, and of its network, and number of the network's clients that have any. */
  countOf(name: string, client: string): { own: number; network: number; clients: number } {
    const network = this.#networks.find(name);
    return {
      own: network?.countOf(client) ?? 0,
      network: network?.length ?? 0,
      clients: network?.clients ?? 0,
    };
  }
}

class Network<T> {
  readonly #clients = new Round<T[]>();
  length = 0;

  push(client: string, item: T): void {
    const items = this.#clients.find(client) ?? [];
    items.push(item);
    this.#clients.add(client, items);
    this.length++;
  }

  shift(): T | undefined {
    this.length--;
    return this.#clients.takeTurn((items) => items.shift());
  }

  get clients(): number {
    return this.#clients.size;
  }

  countOf(client: string): number {
    return this.#clients.find(client)?.length ?? 0;
  }
}

/** Members who take turns. None has a length of 0. */
class Round<Member extends { readonly length: number }> {
  /** Both in the order of their next turn. */
  readonly #little = new Map<string, Member>();
  readonly #much = new Map<string, Member>();
  #turnsInRow = 0;

  get size(): number {
    return this.#little.size + this.#much.size;
  }

  find(name: string): Member | undefined {
    return this.#little.get(name) ?? this.#much.get(name);
  }

  /** To call after the member's length has grown. A new one gets the last turn. */
  add(name: string, member: Member): void {
    if (this.#much.has(name)) return;
    if (member.length <= LITTLE) this.#little.set(name, member);
    else {
      this.#little.delete(name);
      this.#much.set(name, member);
    }
  }

  /** Calls `take`, which removes an item, with the member whose turn it is. */
  takeTurn<Item>(take: (member: Member) => Item): Item | undefined {
    const members = this.#choose();
    const next = members.entries().next().value;
    if (!next) return undefined;
    const [name, member] = next;
    members.delete(name);
    const item = take(member);
    if (member.length > 0) (member.length > LITTLE ? this.#much : this.#little).set(name, member);
    return item;
  }

  #choose(): Map<string, Member> {
    if (this.#little.size > 0 && (this.#much.size === 0 || this.#turnsInRow < TURNS_IN_ROW)) {
      this.#turnsInRow++;
      return this.#little;
    }
    this.#turnsInRow = 0;
    return this.#much;
  }
}
