// Seeded events: clustered around cities, with texts of realistic length (30 events are about 18 KB of JSON).
import type { Random } from '../src/domain/clock-and-random.ts';
import { AUDIENCES, EVENT_TYPES, type EventRow } from '../src/domain/event.ts';
import { newUlid } from '../src/domain/ids.ts';
import { Chance } from '../test/support/random.ts';
import { type City, CityPicker } from './cities.ts';

export const SEED = 20_261_115;
export const DAY_MS = 86_400_000;
export const HORIZON_DAYS = 180;

const AGE_DAYS = 30;
const MILES_PER_DEGREE = 69.1;
const QUARTER_HOUR_MS = 900_000;
const WORDS =
  'open evening city river garden music paper light stage local winter summer family story dance craft book film choir market kitchen history science walk night street theatre harbour museum young neighbours guided classic modern free small great first together workshop quiet'.split(
    ' ',
  );
const ZONES: readonly (readonly [number, string])[] = [
  [-115, 'America/Los_Angeles'],
  [-95, 'America/Chicago'],
  [-60, 'America/New_York'],
  [-30, 'America/Sao_Paulo'],
  [5, 'Europe/London'],
  [25, 'Europe/Berlin'],
  [60, 'Europe/Istanbul'],
  [95, 'Asia/Kolkata'],
  [125, 'Asia/Shanghai'],
  [180, 'Asia/Tokyo'],
];

/** Event fields that the index needs, and the event's city. */
export type Facts = Pick<
  EventRow,
  'event_id' | 'start_ms' | 'end_ms' | 'lat' | 'lng' | 'event_type' | 'audience' | 'created_ms'
> & { readonly city: City };

/** Yields the same facts for the same count and time, whether or not texts are created for them. */
export function* makeFacts(count: number, nowMs: number): Generator<Facts> {
  const chance = new Chance(SEED);
  const random: Random = (bytes) => bytes.map(() => chance.integer(0, 255));
  const cities = new CityPicker();
  const firstMs = Math.floor(nowMs / DAY_MS) * DAY_MS;
  for (let made = 0; made < count; made++) {
    const city = cities.pick(chance);
    const created_ms = Math.floor(nowMs - AGE_DAYS * DAY_MS * (1 - made / count));
    // From the second day on, so that a run later on the same day finds the same events.
    const start_ms = firstMs + DAY_MS + chance.integer(0, HORIZON_DAYS * 96 - 1) * QUARTER_HOUR_MS;
    const hasEnd = chance.chance(0.6);
    yield {
      ...place(city, chance),
      city,
      created_ms,
      start_ms,
      end_ms: hasEnd ? start_ms + chance.integer(2, 24) * QUARTER_HOUR_MS : null,
      event_id: newUlid(created_ms, random),
      event_type: chance.pick(EVENT_TYPES),
      audience: chance.pick(AUDIENCES),
    };
  }
}

/** A random place in the city. Denser towards the centre; large cities are wider. */
function place(city: City, chance: Chance): { lat: number; lng: number } {
  const spreadMiles = 3 + Math.sqrt(city.population) / 250;
  const offset = () =>
    ((chance.next() + chance.next() + chance.next() - 1.5) * spreadMiles) / MILES_PER_DEGREE;
  const lat = city.lat + offset();
  const lng = city.lng + offset() / Math.max(0.1, Math.cos((city.lat * Math.PI) / 180));
  return { lat: Number(lat.toFixed(6)), lng: Number((((lng + 540) % 360) - 180).toFixed(6)) };
}

export class Texts {
  readonly #chance = new Chance(SEED + 1);

  /** Text fields of a create request. */
  of(city: City, type: string) {
    const chance = this.#chance;
    return {
      title: `${capital(this.#words(2, 5))} ${type} in ${city.name}`,
      description: chance.chance(0.9) ? `${capital(this.#words(8, 34))}.` : null,
      timezone: ZONES.find(([east]) => city.lng <= east)![1],
      location_name: `${capital(this.#words(1, 3))} house`,
      address: chance.chance(0.9)
        ? `${capital(this.#words(1, 1))} street ${chance.integer(1, 200)}, ${city.name}`
        : null,
      url: chance.chance(0.8) ? `https://example.com/e/${chance.integer(100_000, 9_999_999)}` : null,
      cost: chance.chance(0.5) ? `${chance.integer(1, 60)} EUR` : null,
    };
  }

  #words(min: number, max: number): string {
    let text = '';
    for (let left = this.#chance.integer(min, max); left > 0; left--) {
      text += text === '' ? this.#chance.pick(WORDS) : ` ${this.#chance.pick(WORDS)}`;
    }
    return text;
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
