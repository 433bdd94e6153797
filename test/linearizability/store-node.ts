// A store in this process as a node for clients.
import assert from 'node:assert/strict';
import type { EventRow } from '../../src/domain/events/event.ts';
import type { NearbyPage, Store } from '../../src/domain/store.ts';
import { NOW_MS, newEventRow, parseEvent, search } from '../store/rows.ts';
import { type TestNode, Torn } from './clients.ts';

/** Every version starts at another time, so that index and JSON can be compared. */
const startMs = (object: string, version: number) =>
  NOW_MS + (1 + Number(object.replace('-', '')) + version * 7_919) * 1_000;

export class StoreNode implements TestNode<EventRow> {
  readonly name: string;
  readonly #store: Store;
  readonly #agent: { readonly agent_id: string };
  readonly #place: { readonly lat: number; readonly lng: number };

  /** All its events are around this meridian. */
  constructor(name: string, store: Store, agent: { readonly agent_id: string }, lng: number) {
    this.name = name;
    this.#store = store;
    this.#agent = agent;
    this.#place = { lat: -48.876, lng };
  }

  async create(object: string): Promise<EventRow> {
    const row = newEventRow(this.#agent, {
      ...this.#place,
      title: `${object} v1`,
      start_ms: startMs(object, 1),
    });
    assert.equal((await this.#store.createEvent(row, 0)).kind, 'created');
    return row;
  }

  async change(stored: EventRow, version: number): Promise<EventRow> {
    const [object] = stored.title.split(' ');
    const next = {
      ...stored,
      version,
      title: `${object} v${version}`,
      start_ms: startMs(object!, version),
    };
    assert.equal((await this.#store.replaceEvent(next)).kind, 'replaced');
    return next;
  }

  async remove({ event_id, agent_id }: EventRow): Promise<void> {
    assert.equal(await this.#store.deleteEvent(event_id, agent_id), true);
  }

  async search(): Promise<ReadonlyMap<string, number>> {
    return versionsOf(await this.find());
  }

  find(): Promise<NearbyPage> {
    return this.#store.nearby(search({ ...this.#place, radiusMiles: 1, details: true }), NOW_MS);
  }
}

/** Throws Torn if the parts of the page are not of one moment. */
export function versionsOf({ events, details, total, next }: NearbyPage): ReadonlyMap<string, number> {
  if (total !== events.length || next !== undefined) throw new Torn(`${events.length} events of ${total}`);
  const versions = new Map<string, number>();
  for (const [at, event] of events.entries()) {
    const { event_id, title, start_at } = parseEvent(event) as Record<string, string>;
    const [object, version] = title!.split(' v');
    const isWhole =
      details[at]!.id === event_id &&
      details[at]!.startMs === Date.parse(start_at!) &&
      Date.parse(start_at!) === startMs(object!, Number(version));
    if (!isWhole || versions.has(object!))
      throw new Torn(`${title} at ${start_at}, ${JSON.stringify(details[at])}`);
    versions.set(object!, Number(version));
  }
  return versions;
}
