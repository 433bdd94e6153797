// Timezones of the stored events, as far as searches by SQL have met them. SQL cannot tell which interval a word such as "tonight"
// means in a timezone: its clock changes may be those of another version. So a search sends the interval of each timezone.
import type { Interval, When } from '../domain/events/when.ts';
import { Zones } from '../memory/zones.ts';

/** Far more than there are. */
const MAX_NAMES = 5_000;

export class SearchZones {
  readonly #zones = new Zones();
  readonly #names = new Set<string>();

  learn(names: readonly string[]): void {
    if (this.#names.size > MAX_NAMES) this.#names.clear();
    for (const name of names) this.#names.add(name);
  }

  /** The interval of the word in each timezone. */
  intervals(when: When, nowMs: number): [name: string, interval: Interval][] {
    return [...this.#names].map((name) => {
      const zone = this.#zones.numberOf(name);
      return [name, this.#zones.intervalOf(when, nowMs, zone)];
    });
  }
}
