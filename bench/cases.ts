// Requests of the benchmark, as files: the four searches, warm and cold, reads by ID, and creates.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { AUDIENCES, EVENT_TYPES } from '../src/domain/events/event.ts';
import type { Sort } from '../src/domain/events/nearby.ts';
import type { When } from '../src/domain/events/when.ts';
import { databasePath } from '../src/sqlite/files/data-folder.ts';
import { Chance } from '../test/support/random.ts';
import { type City, CityPicker } from './cities.ts';
import type { BenchAgents } from './data.ts';
import { DAY_MS, HORIZON_DAYS, SEED, Texts } from './events.ts';
import { wordOf } from './vocabulary.ts';

export const SEARCHES = ['city', 'filtered', 'wide', 'anywhere'] as const;
/** Searches by when events are on, and by distance. Older versions do not know their parameters. */
export const NEW_SEARCHES = ['active', 'when', 'nearest'] as const;
export type SearchName = (typeof SEARCHES)[number] | (typeof NEW_SEARCHES)[number];

const CITIES = 2_000;
const COLD_REQUESTS = 100_000;
const READS = 100_000;
const SAMPLE = 500;
const CREATE_BODIES = 2_000;

export interface SearchParameters {
  readonly lat: number;
  readonly lng: number;
  readonly radius?: number;
  readonly event_type?: readonly string[];
  readonly audience?: readonly string[];
  readonly starts_after?: string;
  readonly starts_before?: string;
  readonly q?: string;
  readonly active_after?: string;
  readonly active_before?: string;
  readonly when?: When;
  readonly sort?: Sort;
}

export interface Case {
  readonly name: string;
  /** `new`: warm, but neither the baseline nor older versions know its parameters. */
  readonly kind: 'warm' | 'new' | 'cold' | 'read' | 'create';
  readonly connections: number;
  readonly requestFile: string;
  /** The first requests, to measure the size of the responses. */
  readonly sample: readonly string[];
}

/** Whether its events are in the cache when it is measured. */
export function isWarm(kind: Case['kind']): boolean {
  return kind === 'warm' || kind === 'new';
}

export function searchCities(): City[] {
  return new CityPicker().pickDifferent(CITIES, new Chance(SEED + 3));
}

/** Parameters of a search around a city. `fromMs` is the start of the two weeks of `filtered`. */
export function searchParameters(
  name: SearchName,
  city: City,
  chance: Chance,
  fromMs: number,
): SearchParameters {
  const { lat, lng } = city;
  if (name === 'city') return { lat, lng, radius: 10 };
  if (name === 'when') return { lat, lng, radius: 10, when: 'this_weekend' };
  if (name === 'nearest') return { lat, lng, radius: 10, sort: 'distance' };
  if (name === 'active') {
    const [active_after, active_before] = [fromMs, fromMs + 2 * DAY_MS].map((ms) =>
      new Date(ms).toISOString(),
    );
    return { lat, lng, radius: 10, active_after: active_after!, active_before: active_before! };
  }
  if (name === 'wide') return { lat, lng, radius: 100 };
  if (name === 'anywhere') return { lat, lng };
  const first = chance.integer(0, EVENT_TYPES.length - 2);
  return {
    lat,
    lng,
    radius: 25,
    event_type: [EVENT_TYPES[first]!, EVENT_TYPES[first + 1]!],
    audience: [chance.pick(AUDIENCES)],
    starts_after: new Date(fromMs).toISOString(),
    starts_before: new Date(fromMs + 14 * DAY_MS).toISOString(),
  };
}

export function searchPath(parameters: SearchParameters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const item of Array.isArray(value) ? value : [value]) query.append(name, String(item));
  }
  query.append('limit', '30');
  return `/v1/events/nearby?${query}`;
}

/** Writes the request files into the folder. */
export function makeCases(folder: string, agents: BenchAgents, dataFolder: string): Case[] {
  const cities = searchCities();
  const chance = new Chance(SEED + 4);
  const save = (name: string, kind: Case['kind'], connections: number, lines: readonly string[]): Case => {
    const requestFile = join(folder, `${name.replaceAll(' ', '-')}.txt`);
    writeFileSync(requestFile, `${lines.join('\n')}\n`);
    const sample = lines.slice(0, isWarm(kind) ? CITIES : SAMPLE);
    return { name, kind, connections, requestFile, sample };
  };
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const randomMs = (days: number) => today + Math.floor(chance.between(1, days) * DAY_MS);
  const warm = [...SEARCHES, ...NEW_SEARCHES].map((name, at) =>
    save(
      name,
      at < SEARCHES.length ? 'warm' : 'new',
      16,
      cities.map((city) => searchPath(searchParameters(name, city, chance, today + 30 * DAY_MS))),
    ),
  );
  const inCity = cities.map((city) =>
    searchPath({ ...searchParameters('city', city, chance, today), q: wordsOf(chance) }),
  );
  const anywhere = cities.map(({ lat, lng }) => searchPath({ lat, lng, q: wordsOf(chance) }));
  const words = [save('words in a city', 'new', 16, inCity), save('words anywhere', 'new', 16, anywhere)];
  const cold = SEARCHES.map((name) => {
    const lines = Array.from({ length: COLD_REQUESTS }, () => {
      const fromMs = randomMs(HORIZON_DAYS - 20);
      const parameters = searchParameters(name, chance.pick(cities), chance, fromMs);
      return searchPath({ ...parameters, starts_after: new Date(fromMs).toISOString() });
    });
    return save(`${name} cold`, 'cold', 16, lines);
  });
  const reads = save('read by id', 'read', 16, readPaths(dataFolder, chance));
  return [
    ...warm,
    ...words,
    ...cold,
    reads,
    save('create', 'create', 64, createLines(agents, cities, chance)),
  ];
}

/** One or two words: from those that every second event has to those that one in thousands has. */
function wordsOf(chance: Chance): string {
  const word = () => wordOf(Math.floor(10 ** chance.between(0, 4)) - 1);
  return chance.chance(0.7) ? word() : `${word()} ${word()}`;
}

function readPaths(dataFolder: string, chance: Chance): string[] {
  const database = new DatabaseSync(databasePath(dataFolder), { readOnly: true });
  const last = database.prepare('SELECT max(row_id) AS last FROM events').get()!.last as number;
  const find = database.prepare('SELECT event_id FROM events WHERE row_id = ?');
  const paths = Array.from(
    { length: READS },
    () => `/v1/events/${find.get(chance.integer(1, last))!.event_id}`,
  );
  database.close();
  return paths;
}

/** Each line is a key, a tab and a body; the generator fills in the number in the title. */
function createLines(agents: BenchAgents, cities: readonly City[], chance: Chance): string[] {
  const texts = new Texts();
  return Array.from({ length: CREATE_BODIES }, (_, number) => {
    const city = chance.pick(cities);
    const event_type = chance.pick(EVENT_TYPES);
    const { title, ...fields } = texts.of(city, event_type);
    const startMs = Math.floor(Date.now() / DAY_MS + chance.between(2, HORIZON_DAYS)) * DAY_MS;
    const body = {
      title: `${title} ##########`,
      ...fields,
      start_at: new Date(startMs).toISOString(),
      end_at: new Date(startMs + 7_200_000).toISOString(),
      lat: city.lat,
      lng: city.lng,
      audience: chance.pick(AUDIENCES),
      event_type,
    };
    return `${agents.creators[number % agents.creators.length]!.key}\t${JSON.stringify(body)}`;
  });
}
