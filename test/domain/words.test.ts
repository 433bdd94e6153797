// Words of texts and searches: examples in many scripts, the parameter `q`, and a comparison with the rules written a second time.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../../src/domain/errors.ts';
import { readNearby } from '../../src/domain/events/nearby.ts';
import { matchesWords, type Term } from '../../src/domain/events/word-query.ts';
import {
  distinctWords,
  hasManyWords,
  type Texts,
  textsOf,
  WORDS_VERSION,
  wordBytes,
  wordsOf,
} from '../../src/domain/events/words.ts';
import { fromWire, type Wire } from '../../src/domain/wire.ts';
import { WORD_EXAMPLES } from '../acceptance/word-examples.ts';
import { Chance } from '../support/random.ts';
import { size } from '../support/sizes.ts';
import { oracleMatches, oracleWords, randomSearch, randomText } from '../support/words-oracle.ts';

const event = (
  title: string,
  fields: { description?: string; location_name?: string; address?: string } = {},
) => ({
  title,
  description: null,
  location_name: '',
  address: null,
  ...fields,
});

/** What no word has, in the texts of people. */
const SEPARATORS = [' ', '\u00a0', '\u3000', '，', '、', '·', '–', '’', '…', '€', '|', '\u200b', '→'];

const wordsIn = (text: string) => distinctOf(event(text));

const distinctOf = (texts: Texts) => [...distinctWords(wordsOf(texts))].map((word) => fromWire(word as Wire));

const termsOf = (q: string): readonly Term[] => readNearby({ lat: 0, lng: 0, q }, 'query').terms!;

const matches = (q: string, text: string) => matchesWords(termsOf(q), distinctWords(wordsOf(event(text))));

const messageOf = (q: unknown): string => {
  try {
    readNearby({ lat: 0, lng: 0, q }, 'query');
    return '';
  } catch (error) {
    assert.ok(error instanceof AppError && error.code === 'VALIDATION_ERROR');
    assert.deepEqual(
      error.issues!.map(({ loc }) => loc.join('.')),
      error.issues!.map(() => 'query.q'),
    );
    return error.message;
  }
};

describe('the words of an event', () => {
  it('come from title, description, place and address', () => {
    const words = distinctOf({
      title: 'One two',
      description: 'two three',
      location_name: 'Four',
      address: 'five 5',
    });
    assert.deepEqual(words.sort(), ['5', 'five', 'four', 'one', 'three', 'two']);
  });

  it('do not reach from one text into the next', () => {
    const words = distinctOf(event('音', { location_name: '楽' }));
    assert.deepEqual(words.sort(), ['楽', '音'].sort());
  });

  it('are cut at 2,000 bytes, at a whole character', () => {
    assert.deepEqual(wordsIn('a'.repeat(5_000)), ['a'.repeat(2_000)]);
    assert.deepEqual(wordsIn('д'.repeat(3_000)), ['д'.repeat(1_000)]);
    assert.deepEqual(wordsIn(`a${'д'.repeat(3_000)}`), [`a${'д'.repeat(999)}`]);
    assert.ok(matches(`${'a'.repeat(199)}*`, 'a'.repeat(5_000)));
  });

  it('need no more than a moment for thousands of marks in a row', () => {
    const marks = ['\u0301', '\u0323', '\u05b0', '\u064b', '\u{1d165}'];
    const text = Array.from({ length: 10_000 }, (_, at) => marks[at % marks.length]).join('');
    assert.deepEqual(wordsIn(`a${text}b`), ['ab']);
  });

  it('are counted by the rule that finds them, whatever their script', () => {
    const letters = {
      latin: 'abcxyz019',
      accents: 'äéñçšø',
      cyrillic: 'абвгдж',
      arabic: 'ابتثجح',
      han: '漢字東京都民謡音楽',
      beyond: '𠀀𠀁𠀂𠮷',
      kana: 'ひらがなカタカナ',
      thai: 'สวัสดีครับ',
      khmer: 'ភាសាខ្មែរ',
      lao: 'ພາສາລາວ',
      burmese: 'မြန်မာ',
      halfwidth: 'ｱｲｳｴｵ',
    };
    const chance = new Chance(7);
    for (let time = 0; time < 500; time++) {
      const points = [...chance.pick(Object.values(letters)), ...chance.pick(SEPARATORS)];
      const description = Array.from({ length: chance.integer(1, 300) }, () => chance.pick(points)).join('');
      const texts = { title: 'a', description, location_name: 'b', address: null };
      const words = distinctOf(texts).length;
      assert.ok(wordBytes(texts) >= 50 * words, description);
    }
  });

  it('are counted exactly if each occurs once, whatever separates them', () => {
    for (const separator of SEPARATORS) {
      const description = Array.from({ length: 500 }, (_, at) => `w${at}`).join(separator);
      const texts = { title: 'a', description, location_name: 'b', address: null };
      assert.equal(distinctOf(texts).length, 502, separator);
      assert.equal(wordBytes(texts), 50 * 502, separator);
    }
    // Whatever a code point becomes between letters. From here on, some become several words that are equal.
    for (let point = 0; point < 0x3300; point++) {
      const texts = event(`qx7${String.fromCodePoint(point)}8xq`);
      assert.equal(wordBytes(texts), 50 * distinctOf(texts).length, point.toString(16));
    }
  });

  it('are many if there are thousands of them, of whatever script', () => {
    const words = (length: number) => Array.from({ length }, (_, at) => `w${at}`).join('\u3000');
    assert.equal(hasManyWords(event('a', { description: words(1_999) })), false);
    assert.equal(hasManyWords(event('a', { description: words(2_000) })), true);
    assert.equal(
      hasManyWords(event('a', { description: `${'東京'.repeat(495)}${' x1'.repeat(1_700)}` })),
      true,
    );
    assert.equal(hasManyWords({ title: 5, description: ['a'], address: null } as never), false);
  });

  it('are counted only as far as needed, and not at all in texts that are too long to be stored', () => {
    const has = (description: string) => hasManyWords({ ...event('a'), description });
    const ligature = '\uFDFA'; // 18 characters and three words
    assert.equal(has(ligature.repeat(1_100)), true);
    for (const longest of [ligature, '\u{20000}']) assert.equal(has(longest.repeat(10_000)), true);
    assert.equal(has(`${'a'.repeat(9_999)}${ligature}`), false);
    for (const refused of [ligature, '\u{20000}', 'a ']) assert.equal(has(refused.repeat(345_000)), false);
    const longest = event('\u{20000}'.repeat(200), {
      description: '\u{20000}'.repeat(10_000),
      location_name: '\u{20000}'.repeat(200),
      address: '\u{20000}'.repeat(500),
    });
    assert.equal(hasManyWords(longest), true, 'as long as all may be together');
  });

  it('are none if the stored JSON is no event', () => {
    for (const json of ['', '{}', 'null', '[1]', '"x"', '{"title":5}'])
      assert.equal(wordsOf(textsOf(json)), '', json);
  });

  it('have a version with that of Unicode', () => {
    assert.equal(WORDS_VERSION % 10_000, Math.round(Number(process.versions.unicode) * 100));
  });
});

describe('q', () => {
  for (const [script, text, q, isFound] of WORD_EXAMPLES) {
    it(`${script}: ${q} ${isFound ? 'finds' : 'does not find'} ${text}`, () => {
      assert.equal(matches(q, text), isFound);
      assert.equal(oracleMatches(q, oracleWords([text])), isFound, 'the oracle says the same');
    });
  }

  it('has 1 to 200 code points', () => {
    assert.equal(messageOf('𝒶'.repeat(200)), '');
    assert.match(messageOf('𝒶'.repeat(201)), /^query\.q: .*200/);
    assert.match(messageOf(''), /^query\.q: /);
    assert.match(messageOf(['a', 'b']), /^query\.q: /);
  });

  it('has at most 8 terms', () => {
    assert.equal(messageOf(' a b c d e f g\u3000h '), '');
    assert.match(messageOf('a b c d e f g h i'), /at most 8 terms/);
  });

  it('needs a word in a term that is not negative', () => {
    for (const q of ['-jazz', '…', '*', '-', ' ', '👍', '-a …'])
      assert.match(messageOf(q), /must have a word/, q);
    assert.equal(messageOf('jazz -brunch …'), '');
  });

  it('takes * only after two letters, and in no script without separators', () => {
    for (const q of ['a*', 'jazz -b*', 'jazz/d*']) assert.match(messageOf(q), /at least 2/, q);
    for (const q of ['東京*', 'jazz -แจ*', 'jazz東*'])
      assert.match(messageOf(q), /does not separate words/, q);
    for (const q of ['ab*', 'ß*', '東京jazz*', 'jazz *']) assert.equal(messageOf(q), '', q);
  });

  it(`is what the rules say, for ${size(2_000, 10_000)} random texts and searches`, () => {
    const chance = new Chance(29);
    const found = { yes: 0, no: 0, refused: 0 };
    for (let round = 0; round < size(2_000, 10_000); round++) {
      const [title, description, location_name, address] = Array.from({ length: 4 }, () =>
        randomText(chance),
      );
      const texts = {
        title: title!,
        description: description!,
        location_name: location_name!,
        address: address!,
      };
      const words = oracleWords(Object.values(texts));
      assert.deepEqual(new Set(distinctOf(texts)), words, JSON.stringify(texts));
      for (let searches = 0; searches < 3; searches++) {
        const q = randomSearch(chance);
        const expected = oracleMatches(q, words);
        const isRefused = messageOf(q) !== '';
        assert.equal(isRefused, expected === undefined, JSON.stringify({ q }));
        if (isRefused) found.refused++;
        else {
          const actual = matchesWords(termsOf(q), distinctWords(wordsOf(texts)));
          assert.equal(actual, expected, JSON.stringify({ q, texts }));
          found[actual ? 'yes' : 'no']++;
        }
      }
    }
    assert.ok(found.yes > 50 && found.no > 1_000 && found.refused > 50, JSON.stringify(found));
  });
});
