// Seeded events: clustered around cities, with texts of realistic length (30 events are about 18 KB of JSON).
import type { Random } from '../src/domain/clock-and-random.ts';
import { AUDIENCES, EVENT_TYPES, type EventRow } from '../src/domain/events/event.ts';
import { newUlid } from '../src/domain/ids.ts';
import { Chance } from '../test/support/random.ts';
import { type City, CityPicker } from './cities.ts';
import { Vocabulary } from './vocabulary.ts';

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
/** 80 timezones. A city has one of those whose longitude is about its own; which one makes no difference here. */
const ZONES: readonly (readonly [number, string])[] = [
  [-135, 'Pacific/Honolulu America/Anchorage Pacific/Tahiti Pacific/Pago_Pago'],
  [-115, 'America/Los_Angeles America/Vancouver America/Tijuana America/Phoenix America/Whitehorse'],
  [
    -95,
    'America/Chicago America/Denver America/Mexico_City America/Winnipeg America/Guatemala America/Regina',
  ],
  [
    -75,
    'America/New_York America/Toronto America/Havana America/Lima America/Bogota America/Panama America/Jamaica',
  ],
  [
    -60,
    'America/Caracas America/Halifax America/Santiago America/La_Paz America/Puerto_Rico America/Asuncion',
  ],
  [
    -30,
    'America/Sao_Paulo America/Argentina/Buenos_Aires America/Montevideo America/St_Johns America/Recife',
  ],
  [
    5,
    'Europe/London Europe/Madrid Europe/Paris Europe/Lisbon Africa/Casablanca Africa/Accra Atlantic/Azores Africa/Dakar',
  ],
  [
    25,
    'Europe/Berlin Europe/Rome Europe/Warsaw Europe/Stockholm Africa/Lagos Africa/Tunis Europe/Athens Africa/Johannesburg',
  ],
  [
    45,
    'Europe/Istanbul Europe/Moscow Africa/Cairo Africa/Nairobi Asia/Baghdad Asia/Jerusalem Europe/Kyiv Africa/Khartoum',
  ],
  [65, 'Asia/Tehran Asia/Dubai Asia/Karachi Asia/Tashkent Asia/Kabul Asia/Baku'],
  [95, 'Asia/Kolkata Asia/Dhaka Asia/Kathmandu Asia/Colombo Asia/Yangon Asia/Almaty'],
  [125, 'Asia/Shanghai Asia/Bangkok Asia/Jakarta Asia/Singapore Asia/Manila Asia/Hong_Kong Australia/Perth'],
  [180, 'Asia/Tokyo Asia/Seoul Australia/Sydney Pacific/Auckland Australia/Adelaide Pacific/Fiji'],
];
const ZONE_NAMES = ZONES.map(([east, names]) => [east, names.split(' ')] as const);

/** The timezones of older versions of this file: one for each range of longitudes. */
const PLAIN_ZONES: readonly (readonly [number, string])[] = [
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

/** `plain` is the data of older versions, for comparisons with them: 10 timezones, and no event is on yet. */
export type DataKind = 'plain' | 'lively';

/** Share of events that last for weeks, and of those that are on during the run. */
const LONG_SHARE = 0.05;
const BEGUN_SHARE = 0.02;

/** Event fields that the index needs, and the event's city. */
export type Facts = Pick<
  EventRow,
  'event_id' | 'start_ms' | 'end_ms' | 'lat' | 'lng' | 'event_type' | 'audience' | 'created_ms'
> & { readonly city: City };

/** Yields the same facts for the same count and time, whether or not texts are created for them. */
export function* makeFacts(count: number, nowMs: number, kind: DataKind = 'lively'): Generator<Facts> {
  const lively = new Chance(SEED + 5);
  for (const facts of makePlainFacts(count, nowMs)) {
    const share = kind === 'plain' ? 1 : lively.next();
    if (share < LONG_SHARE) {
      const start_ms = facts.start_ms - lively.integer(0, 21) * DAY_MS;
      const end_ms = facts.start_ms + lively.integer(14, 56) * DAY_MS;
      yield { ...facts, start_ms, end_ms };
    } else if (share < LONG_SHARE + BEGUN_SHARE) {
      const start_ms = nowMs - lively.integer(1, 8) * QUARTER_HOUR_MS;
      yield { ...facts, start_ms, end_ms: nowMs + DAY_MS + lively.integer(1, 96) * QUARTER_HOUR_MS };
    } else yield facts;
  }
}

function* makePlainFacts(count: number, nowMs: number): Generator<Facts> {
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

export function timezoneOf(city: City, kind: DataKind): string {
  const [, plain] = PLAIN_ZONES.find(([east]) => city.lng <= east)!;
  if (kind === 'plain') return plain;
  const [, names] = ZONE_NAMES.find(([east]) => city.lng <= east)!;
  return names[Math.floor(Math.abs(city.lat + city.lng) * 1000) % names.length]!;
}

export class Texts {
  readonly #chance = new Chance(SEED + 1);
  readonly #kind: DataKind;
  readonly #vocabulary: Vocabulary | undefined;

  constructor(kind: DataKind = 'lively') {
    this.#kind = kind;
    if (kind === 'lively') this.#vocabulary = new Vocabulary();
  }

  /** Text fields of a create request. */
  of(city: City, type: string) {
    const chance = this.#chance;
    return {
      title: `${capital(this.#words(2, 5))} ${type} in ${city.name}`,
      description: chance.chance(0.9) ? `${capital(this.#words(8, 34))}.` : null,
      timezone: timezoneOf(city, this.#kind),
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
      const word = this.#vocabulary?.pick(this.#chance) ?? this.#chance.pick(WORDS);
      text += text === '' ? word : ` ${word}`;
    }
    return text;
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
