// Timezones of the events in memory: each has a small number. Finds for every number the interval that a search means.
import { ianaName } from '../domain/datetime.ts';
import type { NearbyQuery } from '../domain/events/nearby.ts';
import { commonInterval, type LocalInterval, localInterval, type When } from '../domain/events/when.ts';
import { ActiveWindows } from '../spatial/active-windows.ts';

/** For a timezone that only a newer runtime knows. */
const UNKNOWN = 'UTC';

/** An interval that was computed at `atMs`. */
interface Known extends LocalInterval {
  readonly atMs: number;
}

/** Windows for this many zones, computed at `atMs`. They stay the same for searches before `untilMs`. */
interface Last {
  readonly windows: ActiveWindows;
  readonly zones: number;
  readonly atMs: number;
  readonly untilMs: number;
}

export class Zones {
  readonly #names: string[] = [];
  readonly #numbers = new Map<string, number>();
  /** The windows of the last search with each word. */
  readonly #last = new Map<When, Last>();
  /** Computing one takes some microseconds, and there may be 600 timezones. */
  readonly #known = new Map<When, Known[]>();

  /** Names are stored as IANA spells them; those in another spelling share a number. So there are only as many as the runtime knows. */
  numberOf(timezone: string): number {
    const known = this.#numbers.get(timezone);
    if (known !== undefined) return known;
    const name = ianaName(timezone) ?? UNKNOWN;
    const number = this.#numbers.get(name) ?? this.#names.push(name) - 1;
    this.#numbers.set(name, number);
    return number;
  }

  /** When events must be on to match; undefined if the search does not say. */
  windowsOf(query: NearbyQuery, nowMs: number): ActiveWindows | undefined {
    const { when, activeFromMs, activeBeforeMs } = query;
    if (when === undefined) {
      if (activeFromMs === undefined && activeBeforeMs === undefined) return undefined;
      return this.#same(activeFromMs ?? Number.NEGATIVE_INFINITY, activeBeforeMs ?? Number.POSITIVE_INFINITY);
    }
    const common = commonInterval(when, nowMs);
    if (common) return this.#same(common.fromMs, common.beforeMs);
    const last = this.#last.get(when);
    const isCurrent = last && last.zones === this.#names.length && last.atMs <= nowMs && nowMs < last.untilMs;
    return isCurrent ? last.windows : this.#localWindows(when, nowMs);
  }

  #localWindows(when: When, nowMs: number): ActiveWindows {
    const zones = this.#names.length;
    const [from, before] = [new Float64Array(zones), new Float64Array(zones)];
    let until = Number.POSITIVE_INFINITY;
    for (let zone = 0; zone < zones; zone++) {
      const { fromMs, beforeMs, untilMs } = this.intervalOf(when, nowMs, zone);
      from[zone] = fromMs;
      before[zone] = beforeMs;
      until = Math.min(until, untilMs);
    }
    const windows = new ActiveWindows(from, before);
    this.#last.set(when, { windows, zones, atMs: nowMs, untilMs: until });
    return windows;
  }

  #same(fromMs: number, beforeMs: number): ActiveWindows {
    return ActiveWindows.same(fromMs, beforeMs, this.#names.length);
  }

  /** The interval of a word in the timezone with this number. */
  intervalOf(when: When, nowMs: number, zone: number): LocalInterval {
    const intervals = this.#known.get(when) ?? [];
    this.#known.set(when, intervals);
    const known = intervals[zone];
    if (known && known.atMs <= nowMs && nowMs < known.untilMs) return known;
    const interval = { ...localInterval(when, nowMs, this.#names[zone]!), atMs: nowMs };
    intervals[zone] = interval;
    return interval;
  }
}
