// What a search must find, computed the simplest way, over all parameters: filter, sort, slice. It shares with the service only the
// squared chord, which is computed in one place by rule. Instants of local times are found by trying offsets.
import {
  AUDIENCES,
  type Audience,
  EVENT_TYPES,
  type EventRow,
  type EventType,
} from '../../src/domain/events/event.ts';
import { ALL_EVENTS, chordBetween, type NearbyQuery, readNearby } from '../../src/domain/events/nearby.ts';
import { WHENS, type When } from '../../src/domain/events/when.ts';
import { haversineMiles } from '../spatial/oracle.ts';
import { newEventRow } from '../store/rows.ts';
import type { Chance } from '../support/random.ts';
import { oracleMatches, oracleWordsOf, randomSearch, randomText } from '../support/words-oracle.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** All that the runtime lists, and some links, which it does not list. */
export const TIMEZONES = [
  ...Intl.supportedValuesOf('timeZone'),
  ...[
    'UTC',
    'Etc/GMT+12',
    'Etc/GMT-14',
    'Asia/Calcutta',
    'US/Pacific',
    'NZ',
    'NZ-CHAT',
    'Cuba',
    'Egypt',
    'Eire',
  ],
];

const CITIES: readonly (readonly [lat: number, lng: number])[] = [
  [52.52, 13.405],
  [-17.7134, 179.99],
  [89.9, 0],
  [-33.8688, 151.2093],
  [5e-324, -1e-200],
];

function offsetMs(timezone: string, ms: number): number {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timezone).offsetNanoseconds / 1e6;
}

/** The first instant at which the clock shows this; in a gap, what it would show without the change. */
function instantOf(timezone: string, localMs: number): number {
  const before = offsetMs(timezone, localMs - 26 * HOUR_MS);
  const after = offsetMs(timezone, localMs + 26 * HOUR_MS);
  const shown = [localMs - before, localMs - after].filter((ms) => ms + offsetMs(timezone, ms) === localMs);
  return shown.length > 0 ? Math.min(...shown) : localMs - before;
}

/** The interval [from, before) of a word. */
export function intervalOf(when: When, nowMs: number, timezone: string): [from: number, before: number] {
  if (when === 'now') return [nowMs, nowMs + 1];
  if (when === 'next_7_days') return [nowMs, nowMs + 168 * HOUR_MS];
  const localMs = nowMs + offsetMs(timezone, nowMs);
  const midnight = Math.floor(localMs / DAY_MS) * DAY_MS;
  const between = (from: number, before: number): [number, number] => [
    instantOf(timezone, from),
    instantOf(timezone, before),
  ];
  if (when === 'today') return between(midnight, midnight + DAY_MS);
  if (when === 'tomorrow') return between(midnight + DAY_MS, midnight + 2 * DAY_MS);
  if (when === 'tonight') {
    const evening = (localMs - midnight < 4 * HOUR_MS ? midnight - DAY_MS : midnight) + 17 * HOUR_MS;
    return between(evening, evening + 11 * HOUR_MS);
  }
  // 1970-01-01 was a Thursday.
  const weekday = (((midnight / DAY_MS + 4) % 7) + 7) % 7;
  const saturday = midnight + (weekday === 0 ? -1 : 6 - weekday) * DAY_MS;
  return between(saturday, saturday + 2 * DAY_MS);
}

export interface FoundPage {
  readonly ids: readonly string[];
  readonly total: number;
  readonly more: boolean;
}

/** A search, with the text that its terms come from. */
export type OracleQuery = NearbyQuery & { readonly q?: string };

/** The page and total of a search among these rows. */
export function findByRule(rows: Iterable<EventRow>, query: OracleQuery, nowMs: number): FoundPage {
  const intervals = new Map<string, [number, number]>();
  const wantedOf = (timezone: string): [number, number] => {
    if (!query.when) {
      return [
        query.activeFromMs ?? Number.NEGATIVE_INFINITY,
        query.activeBeforeMs ?? Number.POSITIVE_INFINITY,
      ];
    }
    const known = intervals.get(timezone) ?? intervalOf(query.when, nowMs, timezone);
    intervals.set(timezone, known);
    return known;
  };
  const isMatch = (row: EventRow): boolean => {
    const ends = row.end_ms ?? row.start_ms + 3 * HOUR_MS;
    if (ends <= nowMs) return false;
    if (row.start_ms < (query.startsFromMs ?? -Infinity)) return false;
    if (row.start_ms >= (query.startsBeforeMs ?? Infinity)) return false;
    if (query.status !== 'any' && row.status !== query.status) return false;
    if (query.types && !query.types.includes(row.event_type as EventType)) return false;
    if (query.audiences && !query.audiences.includes(row.audience as Audience)) return false;
    if (query.radiusMiles !== undefined && haversineMiles(query, row) > query.radiusMiles) return false;
    if (query.q !== undefined && oracleMatches(query.q, oracleWordsOf(row)) !== true) return false;
    const [from, before] = wantedOf(row.timezone);
    if (from >= before) return false;
    if (row.start_ms === ends) return from <= row.start_ms && row.start_ms < before;
    return row.start_ms < before && ends > from;
  };
  const compareIds = (a: string, b: string) => (a < b ? -1 : Number(a > b));
  const keyOf = (row: EventRow) => ({
    chord: query.sort === 'distance' ? chordBetween(query, row) : 0,
    startMs: row.start_ms,
    id: row.event_id,
  });
  type Key = ReturnType<typeof keyOf>;
  const compare = (a: Key, b: Key) => a.chord - b.chord || a.startMs - b.startMs || compareIds(a.id, b.id);
  const all = [...rows].filter(isMatch).map(keyOf).sort(compare);
  const { after } = query;
  const following = after ? all.filter((key) => compare(key, { chord: 0, ...after }) > 0) : all;
  return {
    ids: following.slice(0, query.limit).map(({ id }) => id),
    total: all.length,
    more: following.length > query.limit,
  };
}

/** Seeded events around a moment at which the clocks of some timezone may change, and searches for them. */
export class SearchWorld {
  readonly chance: Chance;
  readonly #agent: { agent_id: string };
  readonly #timezones: readonly string[];
  readonly #places: readonly { lat: number; lng: number }[];
  /** In the middle of the events. */
  readonly beginsMs: number;

  constructor(chance: Chance, agent: { agent_id: string }) {
    this.chance = chance;
    this.#agent = agent;
    this.#timezones = chance.chance(0.5)
      ? TIMEZONES
      : Array.from({ length: chance.integer(1, 6) }, () => chance.pick(TIMEZONES));
    this.#places = Array.from({ length: chance.pick([2, 12]) }, () => this.#freshPlace());
    const around = Date.UTC(chance.integer(2025, 2033), chance.integer(0, 11), chance.integer(1, 28));
    const change = Temporal.Instant.fromEpochMilliseconds(around)
      .toZonedDateTimeISO(chance.pick(this.#timezones))
      .getTimeZoneTransition('next')?.epochMilliseconds;
    this.beginsMs = change !== undefined && chance.chance(0.7) ? change : around;
  }

  row(fields: Partial<EventRow> = {}): EventRow {
    const { chance } = this;
    const start_ms = this.anyMs();
    return newEventRow(this.#agent, {
      event_id: chance.ulid(),
      start_ms,
      end_ms: this.#endMs(start_ms),
      timezone: chance.pick(this.#timezones),
      ...this.place(),
      event_type: chance.pick(EVENT_TYPES),
      audience: chance.pick(AUDIENCES),
      status: chance.chance(0.2) ? 'cancelled' : 'scheduled',
      description: `${randomText(chance)}${chance.chance(0.3) ? ' common' : ''}`,
      ...fields,
    });
  }

  query(rows: readonly EventRow[]): OracleQuery {
    const { chance } = this;
    const maybe = <T>(probability: number, value: () => T): T | undefined =>
      chance.chance(probability) ? value() : undefined;
    const place = this.place();
    const sort = chance.pick(['start', 'distance'] as const);
    const when = maybe(0.45, () => chance.pick(WHENS));
    const activeFromMs = when ? undefined : maybe(0.5, () => this.#edgeMs(rows));
    const beforeMs = when ? undefined : maybe(0.5, () => this.#edgeMs(rows));
    const query: OracleQuery = {
      ...ALL_EVENTS,
      ...place,
      ...maybe(0.3, () => this.#words()),
      radiusMiles: maybe(0.6, () => chance.pick([0.1, 5, 25, 100, chance.between(0.1, 100)])),
      types: maybe(0.3, () => [chance.pick(EVENT_TYPES), chance.pick(EVENT_TYPES), chance.pick(EVENT_TYPES)]),
      audiences: maybe(0.2, () => [chance.pick(AUDIENCES)]),
      startsFromMs: maybe(0.2, () => this.#edgeMs(rows)),
      startsBeforeMs: maybe(0.2, () => this.#edgeMs(rows)),
      activeFromMs,
      activeBeforeMs:
        beforeMs !== undefined && beforeMs <= (activeFromMs ?? -Infinity) ? activeFromMs! + 1 : beforeMs,
      when,
      status: chance.pick(['scheduled', 'scheduled', 'cancelled', 'any'] as const),
      sort,
      limit: chance.pick([1, 3, 10, 30, 100]),
    };
    if (rows.length === 0 || chance.chance(0.7)) return query;
    const row = chance.pick(rows);
    const after = {
      startMs: row.start_ms,
      id: chance.chance(0.2) ? chance.ulid() : row.event_id,
      ...(sort === 'distance' && { chord: chordBetween(query, row) }),
    };
    return { ...query, after };
  }

  /** Often words that many events have. */
  #words(): Pick<OracleQuery, 'q' | 'terms'> {
    const text = this.chance.chance(0.4) ? 'common' : randomSearch(this.chance);
    const isRefused = oracleMatches(text, new Set()) === undefined;
    const q = isRefused ? 'common -jazz' : text;
    return { q, terms: readNearby({ lat: 0, lng: 0, q }, 'query').terms };
  }

  /** Mostly later than `nowMs`, but a clock may be set back. */
  passingTime(nowMs: number): number {
    const { chance } = this;
    if (chance.chance(0.1)) return this.beginsMs + chance.integer(-5, 5) * HOUR_MS;
    return nowMs + chance.pick([0, 1, 60_000, HOUR_MS, 7 * HOUR_MS, chance.integer(-HOUR_MS, 20 * HOUR_MS)]);
  }

  place(): { lat: number; lng: number } {
    return this.chance.chance(0.6) ? this.chance.pick(this.#places) : this.#freshPlace();
  }

  /** Often on the hour, where days, nights and clock changes begin. */
  anyMs(): number {
    const { chance } = this;
    if (chance.chance(0.4)) return this.beginsMs + chance.integer(-80, 240) * (HOUR_MS / 2);
    return this.beginsMs + chance.integer(-9 * DAY_MS, 12 * DAY_MS);
  }

  #endMs(startMs: number): number | null {
    const { chance } = this;
    const kind = chance.next();
    if (kind < 0.4) return null;
    if (kind < 0.55) return startMs;
    if (kind < 0.8) return startMs + chance.integer(1, 20) * (HOUR_MS / 2);
    return startMs + chance.integer(1, 20 * DAY_MS);
  }

  /** A start or an end, where inclusive and exclusive bounds differ, or any time. */
  #edgeMs(rows: readonly EventRow[]): number {
    const { chance } = this;
    if (rows.length === 0 || chance.chance(0.3)) return this.anyMs();
    const row = chance.pick(rows);
    return chance.chance(0.5) ? row.start_ms : (row.end_ms ?? row.start_ms + 3 * HOUR_MS);
  }

  #freshPlace(): { lat: number; lng: number } {
    const { chance } = this;
    if (chance.chance(0.1)) return { lat: chance.between(-90, 90), lng: chance.between(-180, 180) };
    const [lat, lng] = chance.pick(CITIES);
    const eastward = lng + chance.between(-1, 1);
    return {
      lat: Math.min(90, lat + chance.between(-0.5, 0.5)),
      lng: eastward > 180 ? eastward - 360 : eastward,
    };
  }
}
