// What `q` finds, written a second time from the rules and as plainly as possible: code point by code point, no index. Also random
// texts and searches in many scripts that share enough words to match now and then.
import type { EventRow } from '../../src/domain/events/event.ts';
import type { Chance } from './random.ts';

const IS_MARK = /^\p{M}$/u;
const IS_LETTER = /^\p{L}$/u;
const IS_PLAIN_SCRIPT =
  /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Hebrew}\p{Script=Arabic}]$/u;
const IS_IN_WORD = /^[\p{L}\p{N}\p{M}]$/u;
const IS_UNSEPARATED =
  /^[\p{Script_Extensions=Han}\p{Script_Extensions=Hiragana}\p{Script_Extensions=Katakana}\p{Script_Extensions=Thai}\p{Script_Extensions=Lao}\p{Script_Extensions=Khmer}\p{Script_Extensions=Myanmar}]$/u;

function normalised(text: string): string {
  let kept = '';
  let dropsMarks = false;
  for (const point of text.normalize('NFKD')) {
    if (IS_MARK.test(point)) {
      if (!dropsMarks) kept += point;
      continue;
    }
    dropsMarks = IS_LETTER.test(point) && IS_PLAIN_SCRIPT.test(point);
    kept += point;
  }
  return kept.toLowerCase().replaceAll('ß', 'ss').replaceAll('ς', 'σ').replaceAll('ı', 'i').normalize('NFKC');
}

interface Run {
  text: string;
  isUnseparated: boolean;
}

function runs(text: string): Run[] {
  const found: Run[] = [];
  let last: Run | undefined;
  for (const point of normalised(text)) {
    if (!IS_IN_WORD.test(point)) {
      last = undefined;
      continue;
    }
    const isUnseparated = IS_UNSEPARATED.test(point);
    if (last?.isUnseparated === isUnseparated) last.text += point;
    else {
      last = { text: point, isUnseparated };
      found.push(last);
    }
  }
  return found;
}

/** All words of these texts. */
export function oracleWords(texts: readonly (string | null)[]): Set<string> {
  const words = new Set<string>();
  for (const text of texts) {
    for (const run of runs(text ?? '')) {
      if (!run.isUnseparated) words.add(run.text);
      else {
        const points = [...run.text];
        for (let at = 0; at < points.length; at++) {
          words.add(points[at]!);
          if (at > 0) words.add(points[at - 1]! + points[at]!);
        }
      }
    }
  }
  return words;
}

type Texts = Pick<EventRow, 'title' | 'description' | 'location_name' | 'address'>;

const wordsOfRows = new WeakMap<Texts, Set<string>>();

/** All words of an event, found once per row. */
export function oracleWordsOf(row: Texts): Set<string> {
  const { title, description, location_name, address } = row;
  const words = wordsOfRows.get(row) ?? oracleWords([title, description, location_name, address]);
  wordsOfRows.set(row, words);
  return words;
}

interface Term {
  readonly term: string;
  readonly found: readonly Run[];
}

let last: { readonly q: string; readonly terms: readonly Term[] } = { q: '', terms: [] };

/** The terms of `q`. One search is compared with many events, so the last ones are kept. */
function termsOf(q: string): readonly Term[] {
  if (last.q !== q) {
    const texts = q.split(/\s/u).filter((text) => text !== '');
    last = { q, terms: texts.map((term) => ({ term, found: runs(term) })) };
  }
  return last.terms;
}

/** Whether an event with these words matches `q`; undefined if `q` is refused. */
export function oracleMatches(q: string, words: ReadonlySet<string>): boolean | undefined {
  let matchesAll = true;
  let hasPositive = false;
  for (const { term, found } of termsOf(q)) {
    if (found.length === 0) continue;
    const isNegative = term.startsWith('-');
    if (!isNegative) hasPositive = true;
    let matches = true;
    for (const [at, run] of found.entries()) {
      const points = [...run.text];
      if (term.endsWith('*') && at === found.length - 1) {
        if (run.isUnseparated || points.length < 2) return undefined;
        if (![...words].some((word) => word.startsWith(run.text))) matches = false;
      } else if (!run.isUnseparated || points.length === 1) {
        if (!words.has(run.text)) matches = false;
      } else {
        for (let index = 1; index < points.length; index++)
          if (!words.has(points[index - 1]! + points[index]!)) matches = false;
      }
    }
    if (matches === isNegative) matchesAll = false;
  }
  return hasPositive ? matchesAll : undefined;
}

const WORDS = [
  ...[
    'jazz',
    'Jazz',
    'JAZZ',
    'jazzy',
    'brunch',
    'AC/DC',
    "rock'n'roll",
    'café',
    'cafe\u0301',
    'naïve',
    'Ångström',
    'smørrebrød',
  ],
  ...[
    'Straße',
    'STRASSE',
    'STRAẞE',
    'İstanbul',
    'ISPARTA',
    'ısı',
    'Łódź',
    'Ærø',
    'œuvre',
    'ﬁne',
    'ｊａｚｚ',
    'Ⅷ',
    '①②',
    '½',
    'm²',
  ],
  ...[
    'ΣΊΣΥΦΟΣ',
    'σίσυφος',
    'Ἀθῆναι',
    'джаз',
    'ДЖАЗ',
    'ёлка',
    'Йога',
    'їжак',
    'ծիծեռնակ',
    'Երևան',
    'ქართული',
    'ᲥᲐᲠᲗᲣᲚᲘ',
  ],
  ...[
    'שָׁלוֹם',
    'שלום',
    'מוּזִיקָה',
    'مُوسِيقَى',
    'موسيقى',
    'ﷺ',
    '١٢٣',
    '۱۲۳',
    'پارسی',
    'हिन्दी',
    'संगीत',
    '१२३',
    'বাংলা',
    'ਪੰਜਾਬੀ',
    'ગુજરાતી',
  ],
  ...[
    'தமிழ்',
    'తెలుగు',
    'ಕನ್ನಡ',
    'മലയാളം',
    'සිංහල',
    'དབུ་ཅན',
    'አማርኛ',
    'ᏣᎳᎩ',
    'ꮳꮃꭹ',
    'ᠮᠣᠩᠭᠣᠯ',
    '한국어',
    '한국',
    '재즈',
    '\u1112\u1161\u11ab',
  ],
  ...[
    '日本語',
    '日本',
    '東京',
    '音楽会',
    'ジャズ',
    'ｼﾞｬｽﾞ',
    'じゃず',
    'バー',
    'ハー',
    'パリ',
    '㌔',
    '令和〇年',
    '𠮷野家',
    '吉野家',
    '音乐',
    '爵士',
  ],
  ...[
    'ดนตรี',
    'แจ๊ส',
    'กรุงเทพ',
    'ດົນຕີ',
    'តន្ត្រី',
    'ဂီတ',
    'ၻၼ်',
    'jazz東京',
    '東京jazz',
    '3日',
    '1. Mai',
    '👩‍🎤',
    '🎷jazz🎷',
    '👍🏽',
    'e\u0301\u0323',
  ],
  ...[
    '10117',
    '2031-05-01',
    '7:30',
    'C++',
    'a',
    'I',
    'ſ',
    'K',
    'ﬀ',
    '\u0301',
    '-',
    '*',
    '…',
    'a_b',
    'x\u200dy',
    'soft\u00adhyphen',
  ],
];

export function randomText(chance: Chance): string {
  let text = '';
  for (let count = chance.integer(0, 6); count > 0; count--) {
    text += chance.chance(0.8) ? chance.pick(WORDS) : part(chance, chance.pick(WORDS));
    if (chance.chance(0.8)) text += chance.pick([' ', ' ', ' ', '\n', '\u3000', ', ', '-', '。', '']);
  }
  return text;
}

/** One to three terms, a few of them refused. */
export function randomSearch(chance: Chance): string {
  const terms = Array.from({ length: chance.integer(1, 3) }, (_, at) => {
    const word = chance.chance(0.7) ? chance.pick(WORDS) : part(chance, chance.pick(WORDS));
    return `${at > 0 && chance.chance(0.3) ? '-' : ''}${word}${chance.chance(0.2) ? '*' : ''}`;
  });
  return terms.join(chance.pick([' ', '  ', '\t', '\u3000']));
}

function part(chance: Chance, text: string): string {
  const points = [...text];
  const from = chance.integer(0, points.length - 1);
  return points.slice(from, from + chance.integer(1, points.length)).join('');
}
