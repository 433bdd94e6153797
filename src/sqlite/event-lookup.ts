// Events that a search has found, in their wire form: from the cache, or else read from the file and checked against the
// index, for both may change meanwhile.
import type { Wire } from '../domain/wire.ts';
import type { EventIndex } from '../spatial/event-index.ts';
import type { EventCache } from './event-cache.ts';
import type { ReaderClient } from './reader-client.ts';
import type { WriterClient } from './writer-client.ts';

export class EventLookup {
  readonly #index: EventIndex;
  readonly #cache: EventCache;
  readonly #reader: ReaderClient;
  readonly #writer: WriterClient;

  constructor(index: EventIndex, cache: EventCache, reader: ReaderClient, writer: WriterClient) {
    this.#index = index;
    this.#cache = cache;
    this.#reader = reader;
    this.#writer = writer;
  }

  /** Undefined unless all of them are in the cache. */
  findCached(handles: readonly number[]): Wire[] | undefined {
    const events: Wire[] = [];
    for (const handle of handles) {
      const event = this.#cache.find(handle);
      if (event === undefined) return undefined;
      events.push(event);
    }
    return events;
  }

  /**
   * The events as they are in the index now. Undefined where that cannot be told, because they changed while they were
   * read, or the file is ahead of the index by a commit whose answer is still under way; by then it has arrived.
   */
  async findAll(handles: readonly number[]): Promise<Wire[] | undefined> {
    const events: Wire[] = [];
    const missing: Missing[] = [];
    for (let at = 0; at < handles.length; at++) {
      const handle = handles[at]!;
      const event = this.#cache.find(handle);
      if (event !== undefined) events[at] = event;
      else {
        events[at] = NOT_YET;
        missing.push({ at, handle, version: this.#index.versionOf(handle), row: this.#index.rowOf(handle) });
      }
    }
    const { removals } = this.#index;
    const rows = missing.map(({ row }) => row);
    const isComplete = await this.#reader.run('findEvents', [rows], ({ ids, versions, jsons }) => {
      // A handle that became free may stand for another event by now, and so may a row.
      let isSame = this.#index.removals === removals;
      for (const [number, { at, handle, version }] of missing.entries()) {
        const json = jsons[number]!;
        const isHere = ids[number] !== '' && this.#index.find(ids[number]!) === handle;
        // Kept even where the page is of no use: the next one that is read will need less.
        if (isHere && versions[number] === this.#index.versionOf(handle)) this.#cache.put(handle, json);
        if (isHere && versions[number] === version) events[at] = json;
        else isSame = false;
      }
      return isSame;
    });
    if (isComplete) return events;
    await this.#writer.run('ping', [], () => {});
    return undefined;
  }
}

/** An event that is to be read. */
interface Missing {
  /** Its place on the page. */
  readonly at: number;
  readonly handle: number;
  readonly version: number;
  readonly row: number;
}

const NOT_YET = '' as Wire;
