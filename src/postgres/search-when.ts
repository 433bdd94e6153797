// When events must be on, as SQL: `when`, `active_after` and `active_before`. SQL cannot tell which interval a word such as "tonight"
// means in a timezone: its clock changes may be those of another version. So a search sends the interval of each timezone.
import { DAY_MS } from '../domain/clock-and-random.ts';
import type { NearbyQuery } from '../domain/events/nearby.ts';
import { commonInterval, localInterval, type When } from '../domain/events/when.ts';
import { Zones } from '../memory/zones.ts';

/** Makes the value a parameter of this type, and returns it as SQL. */
export type Put = (value: string | number, type: string) => string;

/** Far more than there are. */
const MAX_NAMES = 5_000;

/** Timezones of the stored events, as far as searches by SQL have met them. */
export class SearchZones {
  readonly #zones = new Zones();
  readonly #names = new Set<string>();

  learn(names: readonly string[]): void {
    if (this.#names.size > MAX_NAMES) this.#names.clear();
    for (const name of names) this.#names.add(name);
  }

  /** The interval of the word in each timezone. */
  intervals(when: When, nowMs: number) {
    return [...this.#names].map((name) => {
      const { fromMs, beforeMs } = this.#zones.intervalOf(when, nowMs, this.#zones.numberOf(name));
      return { name, from_ms: fromMs, before_ms: beforeMs };
    });
  }
}

interface WhenParts {
  /** Begin of a WITH clause, and a join: the intervals of the timezones, unless all have the same. */
  readonly zoneTable: string;
  readonly join: string;
  /** Conditions on an event. */
  readonly isOn: readonly string[];
  /** The timezone of an event, if its interval is not known. */
  readonly unknown: string | undefined;
  /** No interval begins earlier. */
  readonly fromMs: number;
}

export function whenOf(query: NearbyQuery, nowMs: number, zones: SearchZones, put: Put): WhenParts {
  const { when, activeFromMs, activeBeforeMs } = query;
  const common = when && commonInterval(when, nowMs);
  if (!when || common) {
    const { fromMs, beforeMs } = common ?? { fromMs: activeFromMs, beforeMs: activeBeforeMs };
    const [from, before] = [fromMs, beforeMs].map((ms) => (ms === undefined ? undefined : put(ms, 'bigint')));
    return {
      zoneTable: '',
      join: '',
      isOn: isOn(from, before),
      unknown: undefined,
      fromMs: fromMs ?? Number.NEGATIVE_INFINITY,
    };
  }
  // An interval around those of all timezones. Local dates differ by a day at most, but it may be Sunday here and Monday there.
  const utc = localInterval(when, nowMs, 'UTC');
  const marginMs = (when === 'this_weekend' ? 9 : 3) * DAY_MS;
  const [fromMs, beforeMs] = [utc.fromMs - marginMs, utc.beforeMs + marginMs];
  const intervals = put(JSON.stringify(zones.intervals(when, nowMs)), 'text');
  const isOnLocally = ['from_ms < before_ms', ...isOn('from_ms', 'before_ms')].join(' AND ');
  return {
    zoneTable: `zone AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${intervals}::json) AS sent (name text, from_ms bigint, before_ms bigint)),`,
    join: 'LEFT JOIN zone ON name = timezone',
    isOn: [...isOn(put(fromMs, 'bigint'), put(beforeMs, 'bigint')), `(name IS NULL OR ${isOnLocally})`],
    unknown: 'CASE WHEN name IS NULL THEN timezone END',
    fromMs,
  };
}

/** SQL: the event is on at some moment of the interval; without length, it is on at its start. */
function isOn(from: string | undefined, before: string | undefined): string[] {
  const conditions: string[] = [];
  if (before) conditions.push(`start_ms < ${before}`);
  if (from) conditions.push(`(ends_ms > ${from} OR (ends_ms = start_ms AND start_ms >= ${from}))`);
  return conditions;
}
