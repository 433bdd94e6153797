// Words of texts and of the search parameter `q`. One tokenizer for both, so that they agree in every engine. Engines store
// words as WORDS_VERSION found them, and find them again when it changes.

import { toWire, type Wire } from '../wire.ts';
import type { Event, EventRow } from './event.ts';

/** To increase when the same text gets other words. */
const TOKENIZER = 1;

/** Unicode is part of it: a newer one knows more letters. */
export const WORDS_VERSION = versionOf(TOKENIZER, process.versions.unicode ?? '');

/** Scripts in which words are not separated: each code point and each pair of neighbours is a word. */
const UNSEPARATED =
  '\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{scx=Thai}\\p{scx=Lao}\\p{scx=Khmer}\\p{scx=Myanmar}';
const IN_WORDS = '\\p{L}\\p{N}\\p{M}';
const RUN = new RegExp(`[[${UNSEPARATED}]&&[${IN_WORDS}]]+|[[${IN_WORDS}]--[${UNSEPARATED}]]+`, 'gv');
const STARTS_UNSEPARATED = new RegExp(`^[${UNSEPARATED}]`, 'v');

/** Marks that most people leave out. Marks of other scripts carry meaning. */
const MARKS = /(?<=[\p{L}&&[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Hebrew}\p{sc=Arabic}]])\p{M}+/gv;
/** Normalising takes time quadratic in the marks in a row. No language has this many. */
const TOO_MANY_MARKS = /(\p{M}{32})\p{M}+/gu;
const FOLDED = /[ßςı]/g;
const FOLDS: Readonly<Record<string, string>> = { ß: 'ss', ς: 'σ', ı: 'i' };

const NOT_ASCII = /[^\0-\x7f]/;
const NOT_IN_ASCII_WORDS = /[^a-z0-9 ]+/g;

/** Longer words are cut, in texts and in searches: PostgreSQL takes up to 2,046 bytes. */
const MAX_WORD_BYTES = 2_000;
/** From the beginning of a word: otherwise it would be tried at each of its characters. */
const TOO_LONG_ASCII = new RegExp(`\\b([a-z0-9]{${MAX_WORD_BYTES}})[a-z0-9]+`, 'g');

/** Words, each as UTF-8 bytes, with one or more spaces between them. A word may be there several times. */
export type Words = Wire;

/** The fields of an event that have words. */
export type Texts = Pick<EventRow, 'title' | 'description' | 'location_name' | 'address'>;

/** Finding the words of longer texts takes milliseconds: 10,000 characters can have 20,000 words. */
const LONG_TEXT = 1_000;

/** Storing more words than this takes milliseconds. Few texts have as many. */
const MANY_WORDS = 2_000;

/** UTF-16 units that the four fields may have together; each character may take two. Validation refuses more. */
const MAX_LENGTH = 2 * (200 + 10_000 + 200 + 500);

/** A piece of the slowest text (U+FDFA, which becomes 18 characters) takes 1 ms. */
const PIECE_LENGTH = 500;
/** A piece ends between words if it can: otherwise a word would count twice. */
const MAX_CUT_LENGTH = 50;
const LAST_SEPARATOR = new RegExp(`[^${IN_WORDS}\\p{Cs}][${IN_WORDS}\\p{Cs}]*$`, 'u');

/**
 * Whether the texts have thousands of words. They may be what a client sent, not yet validated: texts that validation refuses are
 * not counted.
 */
export function hasManyWords({ title, description, location_name, address }: Unchecked): boolean {
  const texts = [title, description, location_name, address].filter((text) => typeof text === 'string');
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (2 * length <= MANY_WORDS || length > MAX_LENGTH) return false;
  let words = 0;
  for (const text of texts) {
    for (const piece of piecesOf(text)) {
      words += countIn(piece);
      if (words > MANY_WORDS) return true;
    }
  }
  return false;
}

/** Pieces that are counted one by one: a word in two of them counts in both. */
function* piecesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const longest = text.slice(from, from + PIECE_LENGTH);
    const isLast = from + longest.length === text.length;
    const at = isLast ? -1 : longest.slice(-MAX_CUT_LENGTH).search(LAST_SEPARATOR);
    const piece = at < 0 ? longest : longest.slice(0, longest.length - MAX_CUT_LENGTH + at + 1);
    yield piece;
    from += piece.length;
  }
}

type Unchecked = { readonly [N in keyof Texts]?: unknown };

export function isLongText({ title, description, location_name, address }: Texts): boolean {
  const length = title.length + location_name.length + (description?.length ?? 0) + (address?.length ?? 0);
  return length > LONG_TEXT;
}

/** Memory of a word that no other event has. */
const BYTES_PER_WORD = 50;

/** Latin letters, ASCII and common punctuation, which have the same words before folding. */
const NOT_PLAIN = /[^\0-\x7f\u00a0À-ÖØ-öø-ľŁ-ňŊ-ʯ\u2010-\u2016\u2018-\u2027€]/;
const PLAIN_WORD = /[A-Za-z0-9À-ÖØ-öø-ľŁ-ňŊ-ʯ]+/g;

/** How much memory the words take if no other event has them, and each occurs once. */
export function wordBytes({ title, description, location_name, address }: Texts): number {
  let words = 0;
  for (const text of [title, description, location_name, address]) if (text) words += countIn(text);
  return words * BYTES_PER_WORD;
}

/** The number of words by the rule of `wordsIn`; one that occurs twice counts twice. Makes no words, so it is quicker. */
function countIn(text: string): number {
  if (!NOT_PLAIN.test(text)) return text.match(PLAIN_WORD)?.length ?? 0;
  let words = 0;
  for (const run of fold(text).match(RUN) ?? []) {
    if (!STARTS_UNSEPARATED.test(run)) words++;
    else words += 2 * lengthOf(run) - 1;
  }
  return words;
}

function lengthOf(text: string): number {
  let points = 0;
  for (const _ of text) points++;
  return points;
}

/** The words of an event. */
export function wordsOf({ title, description, location_name, address }: Texts): Words {
  const found: Words[] = [];
  for (const text of [title, location_name, address, description]) if (text) found.push(wordsIn(text));
  return found.join(' ') as Words; // reading its characters is faster than those of a concatenation
}

/** Each of the words once. */
export function distinctWords(words: Words): ReadonlySet<string> {
  const distinct = new Set<string>(words.split(' '));
  distinct.delete('');
  return distinct;
}

/** The texts of a stored event, from its JSON. Tables can be changed by hand, so it may be anything. */
export function textsOf(json: string): Texts {
  let event: Partial<Event> | null = null;
  try {
    event = JSON.parse(json) as Partial<Event> | null;
  } catch {
    // no texts
  }
  const textOf = (value: unknown) => (typeof value === 'string' ? value : '');
  const [title, description, location_name, address] = [
    event?.title,
    event?.description,
    event?.location_name,
    event?.address,
  ].map(textOf) as [string, string, string, string];
  return { title, description, location_name, address };
}

function wordsIn(text: string): Words {
  const folded = fold(text);
  if (!NOT_ASCII.test(folded)) {
    const words = folded.replace(NOT_IN_ASCII_WORDS, ' ');
    return (words.length <= MAX_WORD_BYTES ? words : words.replace(TOO_LONG_ASCII, '$1')) as Words;
  }
  const words = new Set<string>();
  for (const run of folded.match(RUN) ?? []) {
    if (!STARTS_UNSEPARATED.test(run)) {
      words.add(cut(run));
      continue;
    }
    let last = '';
    for (const point of run) {
      words.add(point);
      if (last !== '') words.add(last + point);
      last = point;
    }
  }
  return toWire([...words].join(' '));
}

/** Words that a text must have to match this one, in its order. */
export function neededWords(text: string): { word: string; isSeparated: boolean }[] {
  return runsOf(text).flatMap(([run, isSeparated]): { word: string; isSeparated: boolean }[] => {
    if (isSeparated) return [{ word: cut(run), isSeparated }];
    const points = [...run];
    const pairs = points.slice(1).map((point, at) => points[at]! + point);
    return (pairs.length > 0 ? pairs : points).map((word) => ({ word, isSeparated }));
  });
}

/** The text as its words one after the other; those of scripts that do not separate words stay together. */
export function foldedText(text: string): string {
  return (fold(text).match(RUN) ?? []).join(' ');
}

function runsOf(text: string): [run: string, isSeparated: boolean][] {
  return (fold(text).match(RUN) ?? []).map((run) => [run, !STARTS_UNSEPARATED.test(run)]);
}

/** Spelling of a text in which equal words are equal. */
function fold(text: string): string {
  if (!NOT_ASCII.test(text)) return text.toLowerCase();
  const bare = text.replace(TOO_MANY_MARKS, '$1').normalize('NFKD').replace(MARKS, '').toLowerCase();
  if (!NOT_ASCII.test(bare)) return bare;
  return bare.replace(FOLDED, (letter) => FOLDS[letter]!).normalize('NFKC');
}

function cut(word: string): string {
  if (word.length * 3 <= MAX_WORD_BYTES || Buffer.byteLength(word) <= MAX_WORD_BYTES) return word;
  let bytes = 0;
  let end = 0;
  for (const point of word) {
    bytes += Buffer.byteLength(point);
    if (bytes > MAX_WORD_BYTES) break;
    end += point.length;
  }
  return word.slice(0, end);
}

/** A number that is higher for a higher version: 11700 is tokenizer 1 with Unicode 17.0. */
function versionOf(tokenizer: number, unicode: string): number {
  const [major = 0, minor = 0] = unicode.split('.').map(Number);
  return tokenizer * 10_000 + major * 100 + minor;
}
