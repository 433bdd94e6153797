// The order in which waiting work is served: one item of each network after the other; within a network, one of each client; within
// a client, in the order of arrival. Networks and clients with little waiting come first, but after three of them comes one with
// much. So a client that sends much delays only itself.

/** Whoever has more waiting items has much. */
const LITTLE = 4;

/** Items of those with little waiting before one of those with much. */
const LITTLE_IN_ROW = 3;

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

  /** Removes and returns the next item, of those that `mayTake` allows. */
  shift(mayTake: MayTake = always): T | undefined {
    const item = this.#networks.takeNext((network, name) => network.shift(name, mayTake));
    if (item !== undefined) this.#size--;
    return item;
  }

  /** Removes and returns all items of this kind. */
  remove(isRemoved: (item: T) => boolean): T[] {
    const removed: T[] = [];
    this.#networks.change((network) => network.remove(isRemoved, removed));
    this.#size -= removed.length;
    return removed;
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

type MayTake = (network: string, client: string) => boolean;
const always = () => true;

class Network<T> {
  readonly #clients = new Round<T[]>();
  length = 0;

  push(client: string, item: T): void {
    const items = this.#clients.find(client) ?? [];
    items.push(item);
    this.#clients.add(client, items);
    this.length++;
  }

  shift(name: string, mayTake: MayTake): T | undefined {
    const item = this.#clients.takeNext((items, client) =>
      mayTake(name, client) ? items.shift() : undefined,
    );
    if (item !== undefined) this.length--;
    return item;
  }

  remove(isRemoved: (item: T) => boolean, removed: T[]): void {
    this.#clients.change((items) => {
      const left: T[] = [];
      for (const item of items) (isRemoved(item) ? removed : left).push(item);
      this.length -= items.length - left.length;
      items.splice(0, items.length, ...left);
    });
  }

  get clients(): number {
    return this.#clients.size;
  }

  countOf(client: string): number {
    return this.#clients.find(client)?.length ?? 0;
  }
}

/** Members that are served one after the other. None has a length of 0. */
class Round<Member extends { readonly length: number }> {
  /** Both in the order in which they are served next. */
  readonly #little = new Map<string, Member>();
  readonly #much = new Map<string, Member>();
  #littleInRow = 0;

  get size(): number {
    return this.#little.size + this.#much.size;
  }

  find(name: string): Member | undefined {
    return this.#little.get(name) ?? this.#much.get(name);
  }

  /** To call after the member's length has grown. A new one is served last. */
  add(name: string, member: Member): void {
    if (this.#much.has(name)) return;
    if (member.length <= LITTLE) this.#little.set(name, member);
    else {
      this.#little.delete(name);
      this.#much.set(name, member);
    }
  }

  /** Calls `take` with the members in order until it has removed an item. That member is served last then, the others keep their places. */
  takeNext<Item>(take: (member: Member, name: string) => Item | undefined): Item | undefined {
    const isForMuch = this.#much.size > 0 && this.#littleInRow >= LITTLE_IN_ROW;
    return isForMuch
      ? (this.#takeFrom(this.#much, take) ?? this.#takeFrom(this.#little, take))
      : (this.#takeFrom(this.#little, take) ?? this.#takeFrom(this.#much, take));
  }

  #takeFrom<Item>(
    members: Map<string, Member>,
    take: (member: Member, name: string) => Item | undefined,
  ): Item | undefined {
    for (const [name, member] of members) {
      const item = take(member, name);
      if (item === undefined) continue;
      this.#littleInRow = members === this.#little ? this.#littleInRow + 1 : 0;
      members.delete(name);
      if (member.length > 0) (member.length > LITTLE ? this.#much : this.#little).set(name, member);
      return item;
    }
    return undefined;
  }

  /** Calls `change`, which may remove items, with all members. */
  change(change: (member: Member) => void): void {
    for (const members of [this.#little, this.#much]) {
      for (const [name, member] of members) {
        change(member);
        if (member.length === 0) members.delete(name);
      }
    }
  }
}
