// The search parameter `q`: its terms, and which events they match. words.ts says what a word is.
import type { Issue } from '../errors.ts';
import Type from '../schema.ts';
import { toWire } from '../wire.ts';
import { neededWords, type Words } from './words.ts';

const MAX_LENGTH = 200;
const MAX_TERMS = 8;
const MIN_PREFIX_LENGTH = 2;

export const WORDS_DESCRIPTION =
  `Words that the event must have in its title, description, location_name or address: up to ${MAX_TERMS} terms, separated by white space; all must match. ` +
  '`jazz*` also matches longer words, `-jazz` only events without the word. Case, accents and punctuation do not matter. No ranking: the order stays the same.';

export const WordsParameter = Type.Optional(
  Type.String({ minLength: 1, maxLength: MAX_LENGTH, description: WORDS_DESCRIPTION }),
);

/** An event matches a term if it has all of its words, and one that begins with its prefix. */
export interface Term {
  /** Matches the other events instead. */
  readonly isNegative: boolean;
  readonly words: readonly Words[];
  readonly prefix: Words | undefined;
}

/** At least one term is positive. Terms without words are left out. Adds issues if the text cannot be used. */
export function readTerms(text: string, loc: readonly (string | number)[], issues: Issue[]): readonly Term[] {
  const refuse = (msg: string) => issues.push({ loc: [...loc], msg, type: 'value_error' });
  const texts = text.split(/\s+/).filter((term) => term !== '');
  if (texts.length > MAX_TERMS) {
    refuse(`must have at most ${MAX_TERMS} terms, separated by white space`);
    return [];
  }
  const terms = texts.map((term) => readTerm(term, refuse)).filter((term) => term !== undefined);
  if (!terms.some(({ isNegative }) => !isNegative))
    refuse('must have a word to search for: a letter or a digit in a term that does not begin with -');
  return distinct(terms);
}

/** Each term once: to look for it again finds the same. */
function distinct(terms: readonly Term[]): readonly Term[] {
  return [...new Map(terms.map((term) => [JSON.stringify(term), term])).values()];
}

/** Whether a term has a prefix: to find its events takes long if many words begin with it. */
export function hasPrefix(terms: readonly Term[] | undefined): boolean {
  return terms?.some(({ prefix }) => prefix !== undefined) === true;
}

/** Whether the text may have a term with a prefix. */
export function mayHavePrefix(text: unknown): boolean {
  return typeof text === 'string' && text.includes('*');
}

function readTerm(text: string, refuse: (msg: string) => void): Term | undefined {
  const isNegative = text.startsWith('-');
  const needed = neededWords(text);
  if (needed.length === 0) return undefined;
  const words = needed.map(({ word }) => toWire(word));
  if (!text.endsWith('*')) return { isNegative, words, prefix: undefined };
  const last = needed.at(-1)!;
  if (!last.isSeparated)
    refuse(
      'must not have * after a script that does not separate words: every part of a text is found without it',
    );
  else if ([...last.word].length < MIN_PREFIX_LENGTH)
    refuse(`must have at least ${MIN_PREFIX_LENGTH} letters or digits before *`);
  return { isNegative, words: words.slice(0, -1), prefix: words.at(-1) };
}

/** Whether an event with these words matches. */
export function matchesWords(terms: readonly Term[], words: ReadonlySet<string>): boolean {
  return terms.every(({ isNegative, words: all, prefix }) => {
    const isMatch =
      all.every((word) => words.has(word)) &&
      (prefix === undefined || words.values().some((word) => word.startsWith(prefix)));
    return isMatch !== isNegative;
  });
}
