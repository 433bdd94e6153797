// A small seeded random generator (mulberry32): every run of a test sees the same values.

export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to, but not including, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A real number from min up to, but not including, max. */
  between(min: number, max: number): number {
    return min + this.next() * (max - min);
  }

  /** A whole number from min to max, both included. */
  integer(min: number, max: number): number {
    return Math.floor(this.between(min, max + 1));
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.integer(0, list.length - 1)]!;
  }

  /** A random part of the list, in its order; possibly empty. */
  some<T>(list: readonly T[], probability = 0.5): T[] {
    return list.filter(() => this.chance(probability));
  }

  /** A random ULID. */
  ulid(): string {
    let text = String(this.integer(0, 7));
    while (text.length < 26) text += '0123456789ABCDEFGHJKMNPQRSTVWXYZ'[this.integer(0, 31)];
    return text;
  }
}
