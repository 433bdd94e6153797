// Finds places by their names and decides which one a text means: never by a guess. A text is a name and qualifiers, which tell it from
// others: regions, countries, their codes, or a larger city nearby. place-text.ts reads it.
import type { FoundPlace, PlaceCandidate, PlacesQuery, Resolution, ResolvedPlace } from '../domain/places.ts';
import { findNumbers, findNumbersByPrefix } from './name-table.ts';
import type { PlaceData } from './place-file.ts';
import { LARGEST_FIRST, nearness, PlaceTable, type Ranking } from './place-table.ts';
import { type Reading, readPlaceText } from './place-text.ts';

/** How much larger a place must be to be meant before others of its name. */
const CLEARLY_LARGER = 5;
/** Smaller places are not meant without more than their name. */
const MIN_POPULATION = 15_000;
/** Places at least this large are not passed over without asking for a larger one that may be meant less. */
const LARGE_CITY = 100_000;
/** The population that counts for places whose own is unknown or smaller. */
const UNKNOWN_POPULATION = 1_000;

/** How far a district may be from its city. */
const DISTRICT = nearness(30);
/** Places of one name this near are parts of the largest of them. */
const SAME_PLACE = nearness(10);

const MAX_CANDIDATES = 5;
/** Places that are compared with the largest one. They are ordered by population, so others are smaller. */
const MAX_COMPARED = 8;
/** The largest cities of a name; a larger city nearby is one of them. */
const MAX_CITIES = 32;

/** Tens of thousands of names begin with it. */
const ONE_LETTER = /^[a-z]$/;

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

/** What a qualifier can mean. */
interface Qualifier {
  readonly regions: ReadonlySet<number>;
  readonly countries: ReadonlySet<number>;
  readonly cities: readonly number[];
}

export class Gazetteer {
  readonly #data: PlaceData;
  readonly #table: PlaceTable;

  constructor(data: PlaceData) {
    this.#data = data;
    this.#table = new PlaceTable(data);
  }

  resolve(text: string): Resolution {
    const decision = this.#decide(text);
    if (decision === undefined) return { kind: 'unknown' };
    if ('found' in decision) return { kind: 'found', place: this.#resolved(decision.found) };
    const candidates = this.#orderedByLikelihood(decision.among).map(({ place }) => this.#candidate(place));
    return { kind: 'ambiguous', candidates };
  }

  find({ q, country, near, limit }: PlacesQuery): FoundPlace[] {
    const { readings } = readPlaceText(q);
    const code = country === undefined ? undefined : this.#data.lists.countries.indexOf(country);
    const isWanted = (place: number) => code === undefined || this.#table.countryOf(place) === code;
    const ranking = near ? this.#table.nearestFirst(near) : LARGEST_FIRST;
    const exact = (this.#firstMatches(readings)?.matches ?? [])
      .filter(({ place }) => isWanted(place))
      .map(({ place, isAlternate }) => ({ place, isAlternate, rank: ranking.of(place) }))
      .sort((a, b) => Number(a.isAlternate) - Number(b.isAlternate) || a.rank - b.rank)
      .map(({ place }) => place);
    const [reading] = readings;
    const isBeginning =
      exact.length < limit && reading?.qualifiers.length === 0 && !ONE_LETTER.test(reading.name);
    const longer = isBeginning ? this.#byPrefix(reading.name, isWanted, ranking, limit) : [];
    return [...new Set([...exact, ...longer])].slice(0, limit).map((place) => this.#table.get(place));
  }

  #decide(text: string): Decision {
    const { readings, coordinates } = readPlaceText(text);
    if (coordinates !== undefined) {
      const matches = readings.flatMap((reading) => this.#matchesOf(reading));
      const there = matches.find(({ place }) => this.#table.isAt(place, coordinates));
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
      reading.qualifiers.length > 0
        ? !first.isVague
        : this.#table.populationOf(first.place) >= MIN_POPULATION;
    const isClear = others.every(
      (other) => this.#isClearlyLarger(first, other) && !this.#mayBeMeant(other, first, text),
    );
    const isCode = first.isAlternate && reading.qualifiers.length === 0 && isUnclearCode(text);
    return isEnough && isClear && !isCode ? { found: first } : { among: matches };
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
    const region = this.#table.regionOf(place);
    const isUnknown = this.#table.populationOf(place) === 0;
    let city: number | undefined;
    let isVague = false;
    for (const { regions, countries, cities } of meanings) {
      // A city says more than a region of its name.
      const near = cities.find((each) => each < place && this.#table.areNear(each, place, DISTRICT));
      if (near === undefined) {
        if (!regions.has(region) && !countries.has(this.#table.countryOf(place))) return undefined;
        isVague ||= isUnknown && cities.some((each) => this.#table.regionOf(each) === region);
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
        !this.#table.areNear(match.place, largest.place, DISTRICT),
    );
    return larger.length > 0 ? [...larger, ...own] : own;
  }

  /** Whether a large city may be meant although another one is clearly larger. */
  #mayBeMeant(other: Match, larger: Match, text: string): boolean {
    if (this.#table.populationOf(other.place) < LARGE_CITY) return false;
    if (this.#table.countryOf(other.place) === this.#table.countryOf(larger.place)) return true;
    if (other.isAlternate !== larger.isAlternate) return true;
    return this.#table.nameOf(other.place) === text && this.#table.nameOf(larger.place) !== text;
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
      if (!distinct.some(({ place }) => this.#table.areNear(place, match.place, SAME_PLACE)))
        distinct.push(match);
    }
    return distinct;
  }

  #isClearlyLarger(a: Match, b: Match): boolean {
    return this.#weightOf(a.place) >= CLEARLY_LARGER * this.#weightOf(b.place);
  }

  #weightOf(place: number): number {
    return Math.max(this.#table.populationOf(place), UNKNOWN_POPULATION);
  }

  #resolved({ place, city }: Match): ResolvedPlace {
    const { name, region, country, lat, lng } = this.#table.get(place);
    const within = city === undefined ? region : this.#table.nameOf(city);
    return { name, within, country, lat, lng };
  }

  #candidate(place: number): PlaceCandidate {
    const { name, region, country, lat, lng } = this.#table.get(place);
    const text = [name, region, country].filter((part) => part !== null).join(', ');
    const decision = this.#decide(text);
    const isClear = decision !== undefined && 'found' in decision && decision.found.place === place;
    return { place: isClear ? text : `${text}; ${lat},${lng}`, name, region, country, lat, lng };
  }
}

/** Other names of places include codes of airports. Of those, three capital letters are meant as one: NYC, but not "the" or "all". */
function isUnclearCode(text: string): boolean {
  return /^[A-Za-z]{1,3}$/.test(text.trim()) && !/^[A-Z]{3}$/.test(text.trim());
}
