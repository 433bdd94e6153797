// The order in which waiting work is served. Networks take turns, one item each; within a network, its clients take turns; items of one
// client are served in the order of arrival. Members (networks or clients) with few waiting items go first, but after three items of
// such members comes one of a member with many. So a client that sends much delays only itself.

/** A member with more waiting items has many. */
const MAX_FEW = 4;

/** Items of members with few that are served before one of a member with many. */
const FEW_IN_ROW = 3;

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

  /** Removes and returns the next item of a client that `mayTake` allows. */
  shift(mayTake: MayTake = always): T | undefined {
    const item = this.#networks.takeNext((network, name) => network.shift(name, mayTake));
    if (item !== undefined) this.#size--;
    return item;
  }

  /** Removes and returns all items for which `isRemoved` is true. */
  remove(isRemoved: (item: T) => boolean): T[] {
    const removed: T[] = [];
    this.#networks.change((network) => network.remove(isRemoved, removed));
    this.#size -= removed.length;
    return removed;
  }

  /** `own`: waiting items of the client. `network`: those of its network. `clients`: clients of the network that have any. */
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

/** Members that take turns. None has a length of 0. */
class Round<Member extends { readonly length: number }> {
  /** Members with few and with many items, each in the order of their turns. */
  readonly #few = new Map<string, Member>();
  readonly #many = new Map<string, Member>();
  #fewInRow = 0;

  get size(): number {
    return this.#few.size + this.#many.size;
  }

  find(name: string): Member | undefined {
    return this.#few.get(name) ?? this.#many.get(name);
  }

  /** Must be called after the member's length has grown. A new member is served last. */
  add(name: string, member: Member): void {
    if (this.#many.has(name)) return;
    if (member.length <= MAX_FEW) this.#few.set(name, member);
    else {
      this.#few.delete(name);
      this.#many.set(name, member);
    }
  }

  /** Calls `take` with one member after the other until it returns an item. That member goes to the end; the others keep their places. */
  takeNext<Item>(take: (member: Member, name: string) => Item | undefined): Item | undefined {
    const manyFirst = this.#many.size > 0 && this.#fewInRow >= FEW_IN_ROW;
    return manyFirst
      ? (this.#takeFrom(this.#many, take) ?? this.#takeFrom(this.#few, take))
      : (this.#takeFrom(this.#few, take) ?? this.#takeFrom(this.#many, take));
  }

  #takeFrom<Item>(
    members: Map<string, Member>,
    take: (member: Member, name: string) => Item | undefined,
  ): Item | undefined {
    for (const [name, member] of members) {
      const item = take(member, name);
      if (item === undefined) continue;
      this.#fewInRow = members === this.#few ? this.#fewInRow + 1 : 0;
      members.delete(name);
      if (member.length > 0) (member.length > MAX_FEW ? this.#many : this.#few).set(name, member);
      return item;
    }
    return undefined;
  }

  /** Calls `change`, which may remove items, with all members. */
  change(change: (member: Member) => void): void {
    for (const members of [this.#few, this.#many]) {
      for (const [name, member] of members) {
        change(member);
        if (member.length === 0) members.delete(name);
      }
    }
  }
}
