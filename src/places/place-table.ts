// What is known of each place, by its number: of two places, the one with the smaller number has more people.
import {
  chordSquared,
  chordSquaredOfMiles,
  METRES_PER_MILE,
  type Place,
  unitVector,
} from '../domain/events/geo.ts';
import type { FoundPlace } from '../domain/places.ts';
import { startOf } from './name-table.ts';
import type { PlaceData } from './place-file.ts';

/** Coordinates are stored in hundred-thousandths of a degree. */
const SCALE = 1e5;

/** How near two places are at most. */
export interface Nearness {
  /** Of latitude: a quick check before the exact one. */
  readonly degrees: number;
  /** Squared, as of `chordSquared`. */
  readonly chord: number;
}

const KM_PER_DEGREE = 110;

export function nearness(km: number): Nearness {
  return { degrees: km / KM_PER_DEGREE, chord: chordSquaredOfMiles((km * 1_000) / METRES_PER_MILE) };
}

/** An order of places: smaller values first. */
export interface Ranking {
  of(place: number): number;
  /** A lower bound of it that takes less time. */
  atLeast(place: number): number;
}

export const LARGEST_FIRST: Ranking = { of: (place) => place, atLeast: (place) => place };

export class PlaceTable {
  readonly #data: PlaceData;
  /** The country of each region. */
  readonly #countries: Uint16Array;

  constructor(data: PlaceData) {
    this.#data = data;
    this.#countries = Uint16Array.from(data.lists.regions, ([country]) => country);
  }

  /** 0: unknown. */
  populationOf(place: number): number {
    return this.#data.populations[place]!;
  }

  regionOf(place: number): number {
    return this.#data.regions[place]!;
  }

  countryOf(place: number): number {
    return this.#countries[this.#data.regions[place]!]!;
  }

  nameOf(place: number): string {
    const { shownNames, shownNameEnds } = this.#data;
    return shownNames.toString('utf8', startOf(shownNameEnds, place), shownNameEnds[place]);
  }

  get(place: number): FoundPlace {
    const { regions, zones, populations, lists } = this.#data;
    const [country, region] = lists.regions[regions[place]!]!;
    return {
      name: this.nameOf(place),
      region,
      country: lists.countries[country]!,
      ...this.#locationOf(place),
      timezone: lists.zones[zones[place]!]!,
      population: populations[place]! || null,
    };
  }

  isAt(place: number, { lat, lng }: Place): boolean {
    const { lats, lngs } = this.#data;
    return lats[place] === Math.round(lat * SCALE) && lngs[place] === Math.round(lng * SCALE);
  }

  areNear(a: number, b: number, { degrees, chord }: Nearness): boolean {
    if (Math.abs(this.#data.lats[a]! - this.#data.lats[b]!) > degrees * SCALE) return false;
    return this.#distancesFrom(this.#locationOf(a))(b) <= chord;
  }

  nearestFirst(near: Place): Ranking {
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

  #locationOf(place: number): Place {
    return { lat: this.#data.lats[place]! / SCALE, lng: this.#data.lngs[place]! / SCALE };
  }
}
