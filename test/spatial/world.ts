// Seeded events and searches at the edges: clusters, poles, the antimeridian, one point shared by many, equal starts, ends
// that fall on the moment of the search, cursors of deleted events.
import type { IndexEntry, IndexQuery } from '../../src/spatial/index-entry.ts';
import { TAGS, TagSet } from '../../src/spatial/tags.ts';
import type { Chance } from '../support/random.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ALL_TAGS = Array.from({ length: TAGS }, (_, tag) => tag);

/** The initial time of a world; its events start from 30 days before to 60 days after it. */
export const WORLD_BEGINS_MS = Date.parse('2031-05-01T12:00:00Z');

const CITIES: readonly (readonly [lat: number, lng: number])[] = [
  [52.52, 13.405],
  [40.7128, -74.006],
  [-33.8688, 151.2093],
  [-17.7134, 178.065],
  [51.4779, -0.0015],
];

export class World {
  readonly #chance: Chance;
  /** A few starts and places shared by many events. */
  readonly #sharedStarts: number[];
  readonly #sharedPlaces: { lat: number; lng: number }[];

  constructor(chance: Chance) {
    this.#chance = chance;
    this.#sharedStarts = Array.from({ length: 12 }, () => this.#anyStart());
    this.#sharedPlaces = Array.from({ length: 6 }, () => this.#freshPlace());
  }

  entry(fields: Partial<IndexEntry> = {}): IndexEntry {
    const chance = this.#chance;
    const startMs = chance.chance(0.4) ? chance.pick(this.#sharedStarts) : this.#anyStart();
    const endsMs = startMs + (chance.chance(0.5) ? 3 * HOUR_MS : chance.integer(0, 40 * DAY_MS));
    return {
      id: chance.ulid(),
      version: 1,
      row: chance.integer(1, 2 ** 32 - 1),
      startMs,
      endsMs,
      ...this.place(),
      tag: chance.integer(0, TAGS - 1),
      isCancelled: chance.chance(0.2),
      updatedMs: chance.integer(0, WORLD_BEGINS_MS),
      ...fields,
    };
  }

  place(): { lat: number; lng: number } {
    return this.#chance.chance(0.25) ? this.#chance.pick(this.#sharedPlaces) : this.#freshPlace();
  }

  /** A search among these entries, some of which may have been removed. */
  query(entries: readonly IndexEntry[]): IndexQuery {
    const chance = this.#chance;
    const known = entries.length > 0 ? chance.pick(entries) : this.entry();
    const near = chance.chance(0.6) ? this.#beside(known) : this.place();
    const fromMs = this.#windowEdge(known);
    return {
      lat: near.lat,
      lng: near.lng,
      radiusMiles: chance.chance(0.25) ? undefined : this.#radiusMiles(),
      tags: chance.chance(0.4)
        ? undefined
        : new TagSet(chance.some(ALL_TAGS, chance.pick([0.03, 0.2, 0.7, 1]))),
      startsFromMs: chance.chance(0.6) ? Number.NEGATIVE_INFINITY : fromMs,
      startsBeforeMs: chance.chance(0.6) ? Number.POSITIVE_INFINITY : this.#windowEnd(fromMs, entries),
      status: chance.chance(0.5) ? 'scheduled' : chance.pick(['cancelled', 'any']),
      after: chance.chance(0.5) ? undefined : this.#position(entries),
      limit: chance.pick([1, 2, 7, 30, 100]),
    };
  }

  /** The end of an entry, or any time. Mostly later than `nowMs`, but a clock may be set back. */
  passingTime(nowMs: number, entries: readonly IndexEntry[]): number {
    const chance = this.#chance;
    if (entries.length > 0 && chance.chance(0.3)) return chance.pick(entries).endsMs - chance.integer(0, 1);
    return nowMs + chance.integer(-HOUR_MS, 6 * HOUR_MS);
  }

  #anyStart(): number {
    return WORLD_BEGINS_MS + this.#chance.integer(-30 * DAY_MS, 60 * DAY_MS);
  }

  #freshPlace(): { lat: number; lng: number } {
    const chance = this.#chance;
    const kind = chance.next();
    if (kind < 0.5) return this.#around(...chance.pick(CITIES), 2);
    if (kind < 0.6) return this.#around(chance.pick([90, -90]), chance.between(-180, 180), 1.5);
    if (kind < 0.7) return this.#around(chance.between(-80, 80), chance.pick([180, -180]), 1);
    if (kind < 0.75) return { lat: chance.pick([90, -90, 0]), lng: chance.pick([180, -180, 0, 90]) };
    const lat = (Math.asin(chance.between(-1, 1)) * 180) / Math.PI;
    return { lat, lng: chance.between(-180, 180) };
  }

  #beside({ lat, lng }: { lat: number; lng: number }): { lat: number; lng: number } {
    return this.#chance.chance(0.3) ? { lat, lng } : this.#around(lat, lng, 1);
  }

  #around(lat: number, lng: number, degrees: number): { lat: number; lng: number } {
    const northward = lat + this.#chance.between(-degrees, degrees);
    const eastward = lng + this.#chance.between(-degrees, degrees);
    return { lat: Math.max(-90, Math.min(90, northward)), lng: wrap(eastward) };
  }

  #radiusMiles(): number {
    const chance = this.#chance;
    const kind = chance.next();
    if (kind < 0.2) return chance.pick([0.1, 1, 10, 25, 100]);
    return kind < 0.9 ? chance.between(0.1, 100) : chance.between(100, 12_000);
  }

  /** Often exactly a start, where inclusive and exclusive bounds differ. */
  #windowEdge(known: IndexEntry): number {
    return this.#chance.chance(0.5) ? known.startMs : this.#anyStart();
  }

  #windowEnd(fromMs: number, entries: readonly IndexEntry[]): number {
    const chance = this.#chance;
    if (entries.length > 0 && chance.chance(0.5)) return chance.pick(entries).startMs;
    return fromMs + chance.integer(-DAY_MS, 40 * DAY_MS);
  }

  #position(entries: readonly IndexEntry[]): { startMs: number; id: string } {
    const chance = this.#chance;
    if (entries.length === 0 || chance.chance(0.1)) return { startMs: this.#anyStart(), id: chance.ulid() };
    const { startMs, id } = chance.pick(entries);
    return { startMs, id: chance.chance(0.2) ? chance.ulid() : id };
  }
}

function wrap(lng: number): number {
  return lng > 180 ? lng - 360 : lng < -180 ? lng + 360 : lng;
}
