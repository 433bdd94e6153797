// The names of places as the service has them, for tests that look into them.
import { readFile } from 'node:fs/promises';
import { Gazetteer } from '../../src/places/gazetteer.ts';
import { startOf } from '../../src/places/name-table.ts';
import { decodePlaces, type PlaceData, unpackPlaces } from '../../src/places/place-file.ts';

const file = new URL('../../src/places/places.zst', import.meta.url);

/** The content of the file, not compressed. */
export const content: Buffer = await unpackPlaces(await readFile(file));
export const data: PlaceData = decodePlaces(content);
export const gazetteer = new Gazetteer(data);

const SCALE = 1e5;

export interface KnownPlace {
  readonly name: string;
  readonly region: string | null;
  readonly country: string;
  readonly lat: number;
  readonly lng: number;
  readonly population: number;
}

/** The place with this number; 0 is the largest. */
export function placeAt(number: number): KnownPlace {
  const { shownNames, shownNameEnds: ends, lists } = data;
  const [country, region] = lists.regions[data.regions[number]!]!;
  return {
    name: shownNames.toString('utf8', startOf(ends, number), ends[number]),
    region,
    country: lists.countries[country]!,
    lat: data.lats[number]! / SCALE,
    lng: data.lngs[number]! / SCALE,
    population: data.populations[number]!,
  };
}
