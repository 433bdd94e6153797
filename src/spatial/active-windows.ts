// When events must be on to match: an interval for each timezone, by its number. Most events need no look at their own
// interval: those that start after every interval has begun and before any has ended match in all of them.

export class ActiveWindows {
  /** By zone number: events match that are on at some moment of [from, before). */
  readonly #from: Float64Array;
  readonly #before: Float64Array;
  /** Events that start in [commonFromMs, commonBeforeMs) match in every zone. */
  readonly commonFromMs: number;
  readonly commonBeforeMs: number;
  /** Events that end before this, or start at or after the other, match in no zone. */
  readonly fromMs: number;
  readonly beforeMs: number;

  constructor(from: Float64Array, before: Float64Array) {
    this.#from = from;
    this.#before = before;
    let commonFromMs = Number.NEGATIVE_INFINITY;
    let commonBeforeMs = Number.POSITIVE_INFINITY;
    let fromMs = Number.POSITIVE_INFINITY;
    let beforeMs = Number.NEGATIVE_INFINITY;
    for (let zone = 0; zone < from.length; zone++) {
      if (from[zone]! < fromMs) fromMs = from[zone]!;
      if (from[zone]! > commonFromMs) commonFromMs = from[zone]!;
      if (before[zone]! < commonBeforeMs) commonBeforeMs = before[zone]!;
      if (before[zone]! > beforeMs) beforeMs = before[zone]!;
    }
    this.commonFromMs = commonFromMs;
    this.commonBeforeMs = commonBeforeMs;
    this.fromMs = fromMs;
    this.beforeMs = beforeMs;
  }

  /** The same interval in this many zones. */
  static same(fromMs: number, beforeMs: number, zones: number): ActiveWindows {
    const [from, before] = [new Float64Array(zones), new Float64Array(zones)];
    return new ActiveWindows(from.fill(fromMs), before.fill(beforeMs));
  }

  /** An event without length is on at its start. No event is on in an empty interval, such as a day that the zone skips. */
  has(startMs: number, endsMs: number, zone: number): boolean {
    const from = this.#from[zone]!;
    const before = this.#before[zone]!;
    if (from >= before) return false;
    return startMs < before && (endsMs > from || (endsMs === startMs && startMs >= from));
  }
}
