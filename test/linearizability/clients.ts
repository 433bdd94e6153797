// Clients that create, change, delete and search events on any of several nodes, and record what they saw.
import { setTimeout as sleep } from 'node:timers/promises';
import { Chance } from '../support/random.ts';
import type { Search, Write } from './history.ts';

/** What clients do with a node. Writes throw if their outcome is unknown; searches throw if they were refused. */
export interface TestNode<Stored> {
  readonly name: string;
  create(object: string): Promise<Stored>;
  /** Writes this version. */
  change(stored: Stored, version: number): Promise<Stored>;
  remove(stored: Stored): Promise<void>;
  /** Versions by object. */
  search(): Promise<ReadonlyMap<string, number>>;
}

const MAX_OBJECTS_PER_CLIENT = 4;

interface Live<Stored> {
  readonly object: string;
  version: number;
  stored: Stored;
}

export class Clients<Stored> {
  readonly writes: Write[] = [];
  readonly searches: Search[] = [];
  /** Errors of writes and searches that failed. */
  readonly failed: unknown[] = [];
  readonly #nodes: () => readonly TestNode<Stored>[];
  readonly #chance: Chance;
  readonly #clients: Promise<void>[];
  #isStopped = false;
  #error: unknown;

  /** Any of the nodes may serve an operation; the list may change. */
  constructor(count: number, nodes: () => readonly TestNode<Stored>[], seed: number) {
    this.#nodes = nodes;
    this.#chance = new Chance(seed);
    this.#clients = Array.from({ length: count }, (_, client) =>
      this.#run(client).catch((error: unknown) => {
        this.#error ??= error;
        this.#isStopped = true;
      }),
    );
  }

  /** Throws Torn if a response contradicted itself. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#clients);
    if (this.#error !== undefined) throw this.#error;
  }

  async #run(client: number): Promise<void> {
    const live: Live<Stored>[] = [];
    for (let made = 0; !this.#isStopped; ) {
      const node = this.#chance.pick(this.#nodes());
      const kind = this.#chance.next();
      const at = this.#chance.integer(0, live.length - 1);
      if (kind < 0.6) await this.#search(client, node);
      else if (live.length === 0 || (kind < 0.7 && live.length < MAX_OBJECTS_PER_CLIENT)) {
        const object = `${client}-${++made}`;
        const stored = await this.#write({ object, version: 1, isDelete: false }, () => node.create(object));
        if (stored !== undefined) live.push({ object, version: 1, stored });
      } else if (kind < 0.9) await this.#change(node, live, at);
      else {
        const [{ object, version, stored }] = live.splice(at, 1) as [Live<Stored>];
        await this.#write({ object, version: version + 1, isDelete: true }, () => node.remove(stored));
      }
    }
  }

  /** After a write whose outcome is unknown, the object is not written again. */
  async #change(node: TestNode<Stored>, live: Live<Stored>[], at: number): Promise<void> {
    const one = live[at]!;
    const version = one.version + 1;
    const stored = await this.#write({ object: one.object, version, isDelete: false }, () =>
      node.change(one.stored, version),
    );
    if (stored === undefined) live.splice(at, 1);
    else Object.assign(one, { version, stored });
  }

  async #write<T>(
    what: Pick<Write, 'object' | 'version' | 'isDelete'>,
    work: () => Promise<T>,
  ): Promise<T | undefined> {
    const write: Write = { ...what, beganMs: performance.now(), ackedMs: Number.POSITIVE_INFINITY };
    this.writes.push(write);
    try {
      const result = await work();
      write.ackedMs = performance.now();
      return result;
    } catch (error) {
      this.failed.push(error);
      await sleep(20);
      return undefined;
    }
  }

  async #search(client: number, node: TestNode<Stored>): Promise<void> {
    const beganMs = performance.now();
    try {
      const seen = await node.search();
      const by = `search ${this.searches.length} by ${client} on ${node.name}`;
      this.searches.push({ beganMs, endedMs: performance.now(), seen, by });
    } catch (error) {
      if (error instanceof Torn) throw error;
      this.failed.push(error);
      await sleep(20);
    }
  }
}

/** A response that contradicts itself: no check of the history is needed. */
export class Torn extends Error {}
