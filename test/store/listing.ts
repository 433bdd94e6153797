// Helpers for tests of lists: texts in which case, bytes and characters differ, every page of a list, and the expected
// order, found by sorting everything.

import type { ListPosition } from '../../src/domain/administration/cursor.ts';
import type { ListQuery, Sort } from '../../src/domain/administration/list.ts';
import type { ListPage } from '../../src/domain/store.ts';
import type { Chance } from '../support/random.ts';

/** Letters with several, longer, distant or context-dependent lower cases; wildcards, escapes, and the last of Unicode. */
const PIECES = [
  ...'aAbBzZ01 %_*?\\"\'\n',
  ...'äÄßẞéÉİıſKΣσςОД漢\u{10400}\u{10428}😀\ue000\uffff\u{10ffff}',
  'e\u0301',
  'ΟΔΟΣ',
  'Σ.',
  'address',
  'null',
];

export function oddText(chance: Chance, longest = 4): string {
  return Array.from({ length: chance.integer(1, longest) }, () => chance.pick(PIECES)).join('');
}

/** Case folding as the interface defines it; both lower-case sigmas are equal. */
export function folded(text: string): string {
  return [...text.toLowerCase()].map((letter) => (letter === 'ς' ? 'σ' : letter)).join('');
}

export function holds(q: string, ...texts: (string | null)[]): boolean {
  return texts.some((text) => text !== null && folded(text).includes(folded(q)));
}

/** Searches that find texts, in the other case too, and some that may find none. */
export function searches(chance: Chance, texts: readonly string[]): string[] {
  const parts = Array.from({ length: 6 }, () => {
    const letters = [...chance.pick(texts)];
    const from = chance.integer(0, letters.length - 1);
    const part = letters.slice(from, from + chance.integer(1, 3)).join('');
    return chance.chance(0.5) ? part.toUpperCase() : part.toLowerCase();
  });
  return ['', '%', '_', '\\', '"', 'nothing like it', ...parts, oddText(chance, 2)];
}

/** Sorts by the value, texts by their bytes, then by ID. */
export function sorted<Item>(
  items: readonly Item[],
  { descending }: Sort<string>,
  toValue: (item: Item) => string | number | boolean | null,
  idOf: (item: Item) => string,
): Item[] {
  const order = (a: Item, b: Item) => compare(toValue(a), toValue(b)) || compare(idOf(a), idOf(b));
  return items.toSorted((a, b) => (descending ? order(b, a) : order(a, b)));
}

function compare(a: string | number | boolean | null, b: typeof a): number {
  if (typeof a === 'string') return Buffer.compare(Buffer.from(folded(a)), Buffer.from(folded(b as string)));
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  return Number(a) - Number(b);
}

export interface Walked<Item> {
  readonly items: readonly Item[];
  readonly totals: ReadonlySet<number>;
  readonly pages: number;
}

/** Reads every page, one after the other. */
export async function walk<Item, Query extends ListQuery<string>>(
  query: Query,
  ask: (query: Query) => Promise<ListPage<Item>>,
): Promise<Walked<Item>> {
  const items: Item[] = [];
  const totals = new Set<number>();
  let pages = 0;
  let after: ListPosition | undefined;
  do {
    const page = await ask({ ...query, after });
    items.push(...page.items);
    totals.add(page.total);
    pages++;
    after = page.next;
  } while (after);
  return { items, totals, pages };
}
