// Finds places by their names and decides which one a text means: never by a guess. A text is a name, and after commas what tells it from
// others: regions, countries, their codes, or a larger city nearby. After a semicolon it may say coordinates, as Resolved-Place does.
import {
  chordSquared,
  chordSquaredOfMiles,
  METRES_PER_MILE,
  type Place,
  unitVector,
} from '../domain/events/geo.ts';
import type { FoundPlace, PlaceCandidate, PlacesQuery, Resolution, ResolvedPlace } from '../domain/places.ts';
import { findNumbers, findNumbersByPrefix, startOf } from './name-table.ts';
import type { PlaceData } from './place-file.ts';
import { nameKey } from './place-names.ts';

/** How much larger a place must be to be meant before others of its name. */
const CLEARLY_LARGER = 5;
/** Smaller places are not meant without more than their name. */
const MIN_POPULATION = 15_000;
/** Places at least this large are not passed over without asking for a larger one that may be meant less. */
const LARGE_CITY = 100_000;
/** The population that counts for places whose own is unknown or smaller. */
const UNKNOWN_POPULATION = 1_000;
interface Nearness {
  /** Of latitude: a quick check before the exact one. */
  readonly degrees: number;
  /** Squared, as of `chordSquared`. */
  readonly chord: number;
}

/** How far a district may be from its city. */
const DISTRICT = nearness(30);
/** Places of one name this near are parts of the largest of them. */
const SAME_PLACE = nearness(10);

const MAX_CANDIDATES = 5;
/** Places that are compared with the largest one. They are ordered by population, so others are smaller. */
const MAX_COMPARED = 8;
/** More of a text is not looked at, so that a look-up takes a bounded time. */
const MAX_PARTS = 12;
/** The largest cities of a name; a larger city nearby is one of them. */
const MAX_CITIES = 32;
/** Words behind a name without a comma that may say where it is. */
const MAX_TRAILING_WORDS = 3;

/** A way of reading a text: as keys. */
interface Reading {
  readonly name: string;
  readonly qualifiers: readonly string[];
  /** Whether a comma separates the name from what is behind it. */
  readonly isSeparated: boolean;
}

interface Match {
  readonly place: number;
  readonly isAlternate: boolean;
  /** The larger city that a qualifier named. */
  readonly city: number | undefined;
  /** Nothing is known of the place but that it is in a region, whose name is also that of a city elsewhere in the region. */
  readonly isVague: boolean;
}

/** What a text means: one match, or one of several, of which the largest come first. */
type Decision = { readonly found: Match } | { readonly among: readonly Match[] } | undefined;

/** An order of places: smaller numbers first. */
interface Ranking {
  of(place: number): number;
  /** A lower bound of it that takes less time. */
  atLeast(place: number): number;
}

const LARGEST_FIRST: Ranking = { of: (place) => place, atLeast: (place) => place };

/** What a qualifier can mean. */
interface Qualifier {
  readonly regions: ReadonlySet<number>;
  readonly countries: ReadonlySet<number>;
  readonly cities: readonly number[];
}

export class Gazetteer {
  readonly #data: PlaceData;
  /** The country of each region. */
  readonly #countries: Uint16Array;

  constructor(data: PlaceData) {
    this.#data = data;
    this.#countries = Uint16Array.from(data.lists.regions, ([country]) => country);
  }

  get size(): number {
    return this.#data.lats.length;
  }

  resolve(text: string): Resolution {
    const decision = this.#decide(text);
    if (decision === undefined) return { kind: 'unknown' };
    if ('found' in decision) return { kind: 'found', place: this.#resolved(decision.found) };
    const candidates = this.#orderedByLikelihood(decision.among).map(({ place }) => this.#candidate(place));
    return { kind: 'ambiguous', candidates };
  }

  find({ q, country, near, limit }: PlacesQuery): FoundPlace[] {
    const readings = readingsOf(splitCoordinates(q).name);
    const code = country === undefined ? undefined : this.#data.lists.countries.indexOf(country);
    const isWanted = (place: number) => code === undefined || this.#countryOf(place) === code;
    const ranking = near ? this.#nearestFirst(near) : LARGEST_FIRST;
    const exact = (this.#firstMatches(readings)?.matches ?? [])
      .filter(({ place }) => isWanted(place))
      .map(({ place, isAlternate }) => ({ place, isAlternate, rank: ranking.of(place) }))
      .sort((a, b) => Number(a.isAlternate) - Number(b.isAlternate) || a.rank - b.rank)
      .map(({ place }) => place);
    const [reading] = readings;
    const isBeginning =
      exact.length < limit && reading?.qualifiers.length === 0 && !ONE_LETTER.test(reading.name);
    const longer = isBeginning ? this.#byPrefix(reading.name, isWanted, ranking, limit) : [];
    return [...new Set([...exact, ...longer])].slice(0, limit).map((place) => this.#shown(place));
  }

  #decide(text: string): Decision {
    const { name, coordinates } = splitCoordinates(text);
    const readings = readingsOf(name);
    if (coordinates !== undefined) {
      const matches = readings.flatMap((reading) => this.#matchesOf(reading));
      const there = matches.find(({ place }) => this.#isAt(place, coordinates));
      if (there !== undefined) return { found: there };
    }
    const read = this.#firstMatches(readings);
    if (read === undefined) return this.#withoutQualifiers(readings);
    const { reading, matches } = read;
    if (coordinates !== undefined) return { among: matches };
    const likeliest = this.#likeliest(matches);
    const first = likeliest[0]!;
    // If an alternate is meant, any of them may be.
    const compared = this.#distinct(first.isAlternate ? matches : likeliest, MAX_COMPARED);
    const others = compared.filter(({ place }) => place !== first.place);
    const isEnough =
      reading.qualifiers.length > 0 ? !first.isVague : this.#data.populations[first.place]! >= MIN_POPULATION;
    const isClear = others.every(
      (other) => this.#isClearlyLarger(first, other) && !this.#mayBeMeant(other, first, text),
    );
    return isEnough && isClear ? { found: first } : { among: matches };
  }

  /** For a known name whose qualifiers fit no place of it: those to choose from. */
  #withoutQualifiers(readings: readonly Reading[]): Decision {
    for (const { name, isSeparated } of readings) {
      const among = isSeparated ? this.#matchesOf({ name, isSeparated, qualifiers: [] }) : [];
      if (among.length > 0) return { among };
    }
    return undefined;
  }

  /** The matches of the first reading that has any. */
  #firstMatches(readings: readonly Reading[]): { reading: Reading; matches: Match[] } | undefined {
    for (const reading of readings) {
      const matches = this.#matchesOf(reading);
      if (matches.length > 0) return { reading, matches };
    }
    return undefined;
  }

  /** Places of this name that fit all qualifiers, the largest first. */
  #matchesOf({ name, qualifiers }: Reading): Match[] {
    const numbers = findNumbers(this.#data.names, name);
    if (numbers.length === 0) return [];
    const meanings = qualifiers.map((key) => this.#meaningOf(key));
    const matches: Match[] = [];
    for (const number of numbers) {
      const place = number >>> 1;
      const fit = this.#fit(place, meanings);
      if (fit) matches.push({ place, isAlternate: (number & 1) === 1, ...fit });
    }
    return matches;
  }

  /** Undefined if the place does not fit all qualifiers. */
  #fit(place: number, meanings: readonly Qualifier[]): Pick<Match, 'city' | 'isVague'> | undefined {
    const region = this.#data.regions[place]!;
    const isUnknown = this.#data.populations[place] === 0;
    let city: number | undefined;
    let isVague = false;
    for (const { regions, countries, cities } of meanings) {
      // A city says more than a region of its name.
      const near = cities.find((each) => each < place && this.#areNear(each, place, DISTRICT));
      if (near === undefined) {
        if (!regions.has(region) && !countries.has(this.#countryOf(place))) return undefined;
        isVague ||= isUnknown && cities.some((each) => this.#data.regions[each] === region);
      }
      city ??= near;
    }
    return { city, isVague: isVague && city === undefined };
  }

  #meaningOf(key: string): Qualifier {
    const { names, qualifiers, lists } = this.#data;
    // "U.S." has the key "u s".
    const numbers = [...findNumbers(qualifiers, key), ...findNumbers(qualifiers, key.replaceAll(' ', ''))];
    const count = lists.regions.length;
    return {
      regions: new Set(numbers.filter((number) => number < count)),
      countries: new Set(numbers.filter((number) => number >= count).map((number) => number - count)),
      cities: Array.from(findNumbers(names, key).subarray(0, MAX_CITIES), (number) => number >>> 1),
    };
  }

  /** The first places in this order with a name that begins with this one. */
  #byPrefix(name: string, isWanted: (place: number) => boolean, ranking: Ranking, limit: number): number[] {
    const best: { place: number; rank: number }[] = [];
    let worst = Number.POSITIVE_INFINITY;
    for (const number of findNumbersByPrefix(this.#data.names, name)) {
      const place = number >>> 1;
      if (ranking.atLeast(place) >= worst || !isWanted(place)) continue;
      const rank = ranking.of(place);
      if (rank >= worst || best.some((each) => each.place === place)) continue;
      const at = best.findIndex((each) => rank < each.rank);
      best.splice(at < 0 ? best.length : at, 0, { place, rank });
      if (best.length > limit) best.pop();
      if (best.length === limit) worst = best[limit - 1]!.rank;
    }
    return best.map(({ place }) => place);
  }

  /**
   * A place's own names come before alternates, unless the place of the alternate is clearly larger: then it comes before them. A city
   * does not come before its district.
   */
  #likeliest(matches: readonly Match[]): readonly Match[] {
    const own = matches.filter(({ isAlternate }) => !isAlternate);
    const [largest] = own;
    if (largest === undefined) return matches;
    const larger = matches.filter(
      (match) =>
        match.isAlternate &&
        this.#isClearlyLarger(match, largest) &&
        !this.#areNear(match.place, largest.place, DISTRICT),
    );
    return larger.length > 0 ? [...larger, ...own] : own;
  }

  /** Whether a large city may be meant although another one is clearly larger. */
  #mayBeMeant(other: Match, larger: Match, text: string): boolean {
    if (this.#data.populations[other.place]! < LARGE_CITY) return false;
    if (this.#countryOf(other.place) === this.#countryOf(larger.place)) return true;
    if (other.isAlternate !== larger.isAlternate) return true;
    return this.#nameOf(other.place) === text && this.#nameOf(larger.place) !== text;
  }

  #orderedByLikelihood(matches: readonly Match[]): readonly Match[] {
    const own = matches.filter(({ isAlternate }) => !isAlternate);
    return this.#distinct(new Set([...this.#likeliest(matches), ...own, ...matches]), MAX_CANDIDATES);
  }

  /** At most this many, without those that are parts of an earlier one. */
  #distinct(matches: Iterable<Match>, count: number): Match[] {
    const distinct: Match[] = [];
    for (const match of matches) {
      if (distinct.length === count) break;
      if (!distinct.some(({ place }) => this.#areNear(place, match.place, SAME_PLACE))) distinct.push(match);
    }
    return distinct;
  }

  #isClearlyLarger(a: Match, b: Match): boolean {
    return this.#weightOf(a.place) >= CLEARLY_LARGER * this.#weightOf(b.place);
  }

  #weightOf(place: number): number {
    return Math.max(this.#data.populations[place]!, UNKNOWN_POPULATION);
  }

  #countryOf(place: number): number {
    return this.#countries[this.#data.regions[place]!]!;
  }

  #locationOf(place: number): Place {
    return { lat: this.#data.lats[place]! / SCALE, lng: this.#data.lngs[place]! / SCALE };
  }

  #isAt(place: number, { lat, lng }: Place): boolean {
    return (
      this.#data.lats[place] === Math.round(lat * SCALE) && this.#data.lngs[place] === Math.round(lng * SCALE)
    );
  }

  #areNear(a: number, b: number, { degrees, chord }: Nearness): boolean {
    if (Math.abs(this.#data.lats[a]! - this.#data.lats[b]!) > degrees * SCALE) return false;
    return this.#distancesFrom(this.#locationOf(a))(b) <= chord;
  }

  #nearestFirst(near: Place): Ranking {
    const ofUnit = Math.PI / 180 / SCALE;
    return {
      of: this.#distancesFrom(near),
      // Half of an angle is at most π/2 times its sine.
      atLeast: (place) => ((2 / Math.PI) * ofUnit * (this.#data.lats[place]! - near.lat * SCALE)) ** 2,
    };
  }

  /** The squared chord from here to a place. */
  #distancesFrom({ lat, lng }: Place): (place: number) => number {
    const from = unitVector(lat, lng);
    return (place) => {
      const to = this.#locationOf(place);
      return chordSquared(from, unitVector(to.lat, to.lng));
    };
  }

  #resolved({ place, city }: Match): ResolvedPlace {
    const { name, region, country, lat, lng } = this.#shown(place);
    const within = city === undefined ? region : this.#nameOf(city);
    return { name, within, country, lat, lng };
  }

  #candidate(place: number): PlaceCandidate {
    const { name, region, country, lat, lng } = this.#shown(place);
    const text = [name, region, country].filter((part) => part !== null).join(', ');
    const decision = this.#decide(text);
    const isClear = decision !== undefined && 'found' in decision && decision.found.place === place;
    return { place: isClear ? text : `${text}; ${lat},${lng}`, name, region, country, lat, lng };
  }

  #shown(place: number): FoundPlace {
    const { regions, zones, populations, lists } = this.#data;
    const [country, region] = lists.regions[regions[place]!]!;
    return {
      name: this.#nameOf(place),
      region,
      country: lists.countries[country]!,
      ...this.#locationOf(place),
      timezone: lists.zones[zones[place]!]!,
      population: populations[place]! || null,
    };
  }

  #nameOf(place: number): string {
    const { shownNames, shownNameEnds } = this.#data;
    return shownNames.toString('utf8', startOf(shownNameEnds, place), shownNameEnds[place]);
  }
}

/** Tens of thousands of names begin with it. */
const ONE_LETTER = /^[a-z]$/;

const SCALE = 1e5;
const COORDINATES = /^([^;]*);\s*(-?\d{1,3}(?:\.\d+)?)\s*,\s*(-?\d{1,3}(?:\.\d+)?)\s*$/;
const COMMAS = /[,，、،;]/;

function splitCoordinates(text: string): { name: string; coordinates: Place | undefined } {
  const [, name, lat, lng] = COORDINATES.exec(text) ?? [];
  if (name === undefined) return { name: text, coordinates: undefined };
  return { name, coordinates: { lat: Number(lat), lng: Number(lng) } };
}

/** Ways of reading the text, the likeliest first. Names have commas, too: Washington, D.C. */
function readingsOf(text: string): Reading[] {
  const parts = text
    .split(COMMAS, MAX_PARTS + 1)
    .map(nameKey)
    .filter((key) => key !== '');
  if (parts.length === 0 || parts.length > MAX_PARTS) return [];
  if (parts.length > 1)
    return parts.map((_, at) => ({
      name: parts.slice(0, at + 1).join(' '),
      qualifiers: parts.slice(at + 1),
      isSeparated: true,
    }));
  const words = parts[0]!.split(' ');
  const readings: Reading[] = [{ name: parts[0]!, qualifiers: [], isSeparated: true }];
  for (let count = 1; count <= MAX_TRAILING_WORDS && count < words.length; count++) {
    const at = words.length - count;
    const name = words.slice(0, at).join(' ');
    readings.push({ name, qualifiers: [words.slice(at).join(' ')], isSeparated: false });
  }
  return readings;
}

function nearness(km: number): Nearness {
  return { degrees: km / 110, chord: chordSquaredOfMiles((km * 1_000) / METRES_PER_MILE) };
}
