// Made-up words with the frequencies of a language: the word of rank n is picked about 1/n as often as the first (Zipf's law).
import type { Chance } from '../test/support/random.ts';

export const VOCABULARY = 120_000;
/** Added to ranks: the most frequent words of texts are not as far ahead as 1/n would have it. */
const OFFSET = 3;

const SYLLABLES =
  'ka lo mi ter an so ven dra pi ul go ra es tin bo qua li mon fe zu ner sta vi ho pel dur cas im ot wen'.split(
    ' ',
  );

/** The word of a rank, from 0: the same in every run. Frequent words are short, as in a language. A few words occur twice. */
export function wordOf(rank: number): string {
  let syllables = 2;
  let place = rank;
  for (; place >= SYLLABLES.length ** syllables; syllables++) place -= SYLLABLES.length ** syllables;
  // Multiplied by a number without common factors, so that neighbouring ranks do not share their first syllables.
  let rest = (place * 7_919 + 31) % SYLLABLES.length ** syllables;
  let word = '';
  for (; syllables > 0; syllables--) {
    word += SYLLABLES[rest % SYLLABLES.length];
    rest = Math.floor(rest / SYLLABLES.length);
  }
  return word;
}

export class Vocabulary {
  readonly #words = Array.from({ length: VOCABULARY }, (_, rank) => wordOf(rank));
  readonly #sums = new Float64Array(VOCABULARY);

  constructor() {
    let sum = 0;
    for (let rank = 0; rank < VOCABULARY; rank++) this.#sums[rank] = sum += 1 / (rank + OFFSET);
  }

  pick(chance: Chance): string {
    const at = chance.next() * this.#sums[VOCABULARY - 1]!;
    let low = 0;
    let high = VOCABULARY - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#sums[middle]! < at) low = middle + 1;
      else high = middle;
    }
    return this.#words[low]!;
  }
}
