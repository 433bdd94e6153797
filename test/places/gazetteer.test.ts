// The rules by which a text means a place, and the search for places.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PlacesQuery } from '../../src/domain/places.ts';
import { gazetteer } from './gazetteer-file.ts';

/** What the text means, as `name, within, country`; for an ambiguous one the texts of the candidates. */
function meaningOf(text: string): string | readonly string[] {
  const resolution = gazetteer.resolve(text);
  if (resolution.kind === 'unknown') return 'unknown';
  if (resolution.kind === 'ambiguous') return resolution.candidates.map(({ place }) => place);
  const { name, within, country } = resolution.place;
  return [name, within, country].join(', ');
}

describe('a place', () => {
  const meanings: readonly [text: string, meaning: string, why: string][] = [
    ['Kreuzberg, Berlin', 'Kreuzberg, Berlin, DE', 'is near the larger city that is named'],
    ['Kreuzberg', 'Kreuzberg, State of Berlin, DE', 'has its region if no city is named'],
    ['Mitte, State of Berlin', 'Mitte, State of Berlin, DE', 'is in the region as it is shown'],
    ['London, ON', 'London, Ontario, CA', 'is in the province with this postal code'],
    ['Springfield, IL', 'Springfield, Illinois, US', 'is in the state with this postal code'],
    ['Vancouver, CA', 'Vancouver, British Columbia, CA', 'is in this country or state, and only one is'],
    ['San Jose, CA', 'San Jose, California, US', 'is in this state or country, and only one is'],
    ['Melbourne, VIC', 'Melbourne, Victoria, AU', 'is in the state with this postal code in Australia'],
    ['Cambridge, U.K.', 'Cambridge, England, GB', 'is in this country'],
    ['Cambridge, GBR', 'Cambridge, England, GB', 'is in the country with this code of three letters'],
    ['München, Bayern', 'Munich, Bavaria, DE', 'is in the region with this name in its own language'],
    ['Genève, Suisse', 'Geneva, Geneva, CH', 'is in the country with this name in another language'],
    ['Perth, Scotland, United Kingdom', 'Perth, Scotland, GB', 'fits everything that is said'],
    ['Paris TX', 'Paris, Texas, US', 'may have what it is in without a comma'],
    ['San José Costa Rica', 'San José, San José, CR', 'may have several such words'],
    ['Washington, D.C.', 'Washington, District of Columbia, US', 'may have a comma in its name'],
    ['Manhattan', 'Manhattan, New York, US', 'comes before the city of which this is another name'],
    ['Birmingham', 'Birmingham, England, GB', 'is five times as large as the next of its name'],
    ['Guadalajara', 'Guadalajara, Jalisco, MX', 'is five times as large, even under an alternate name'],
    ['Kreuzberg, Berlin, DE; 52.49973,13.40338', 'Kreuzberg, Berlin, DE', 'is at these coordinates'],
    ['  kreuzberg ,, BERLIN ', 'Kreuzberg, Berlin, DE', 'may have spaces and commas around its parts'],
    ["XI'AN", 'Xi’an, Shaanxi, CN', 'may have an apostrophe'],
    ['Xian', 'Xi’an, Shaanxi, CN', 'may lack an apostrophe'],
    ['St. John’s, NL', "St. John's, Newfoundland and Labrador, CA", 'may have "saint" in short'],
  ];
  for (const [text, meaning, why] of meanings)
    it(`${why}: ${text}`, () => assert.equal(meaningOf(text), meaning));

  const asked: readonly [text: string, first: string, why: string][] = [
    ['Springfield', 'Springfield, Missouri, US', 'others have its name'],
    ['Richmond, CA', 'Richmond, British Columbia, CA', 'both readings of its code fit others'],
    ['Suzhou', 'Suzhou, Jiangsu, CN', 'another large city in the same country has its name'],
    ['Victoria', 'Hong Kong, HK', 'a far larger city has its name as another name'],
    ['Neustadt', 'Baia Mare, Maramureş, RO', 'of those that have it as another name, none is far larger'],
    ['all', 'Albenga, Liguria, IT', 'a word is also the code of its airport'],
    ['Los Ángeles', 'Los Angeles, California, US', 'another large city is spelled exactly like this'],
    ['Wörlitz', 'Wörlitz, Saxony-Anhalt, DE', 'it is small, and nothing says where it is'],
    ['Springfield, Bavaria', 'Springfield, Missouri, US', 'none is where it is said to be'],
    ['Berlin; 1,1', 'Berlin, State of Berlin, DE', 'none is at these coordinates'],
  ];
  for (const [text, first, why] of asked)
    it(`is asked for if ${why}: ${text}`, () => {
      const meaning = meaningOf(text);
      assert.ok(Array.isArray(meaning), String(meaning));
      assert.equal(meaning[0], first);
    });

  const unknown = [
    '',
    ' ',
    ',',
    ';',
    '🎷',
    'Xyzzyville',
    'Xyzzyville, Berlin',
    '52.5,13.4',
    'a,'.repeat(99),
    '; 1,1',
  ];
  for (const text of unknown)
    it(`is unknown: ${JSON.stringify(text.slice(0, 20))}`, () => assert.equal(meaningOf(text), 'unknown'));

  it('that is small is found if something says where it is', () => {
    assert.equal(meaningOf('Wörlitz, Sachsen-Anhalt'), 'Wörlitz, Saxony-Anhalt, DE');
  });
});

describe('a search for places', () => {
  const find = (query: Partial<PlacesQuery> & { q: string }) =>
    gazetteer.find({ country: undefined, near: undefined, limit: 10, ...query });
  const namesOf = (query: Partial<PlacesQuery> & { q: string }) =>
    find(query).map(({ name, region, country }) => [name, region, country].join(', '));

  it('returns every field', () => {
    assert.deepEqual(find({ q: 'ミュンヘン', limit: 1 }), [
      {
        name: 'Munich',
        region: 'Bavaria',
        country: 'DE',
        lat: 48.13743,
        lng: 11.57549,
        timezone: 'Europe/Berlin',
        population: 1260391,
      },
    ]);
    assert.equal(find({ q: 'Soho, London' })[0]!.population, null);
  });

  it('has places with exactly this name first, own names before others, the largest first', () => {
    const names = namesOf({ q: 'springfield', limit: 50 });
    assert.deepEqual(names.slice(0, 2), ['Springfield, Missouri, US', 'Springfield, Massachusetts, US']);
    const exact = names.filter((name) => name.startsWith('Springfield, '));
    assert.deepEqual(names.slice(0, exact.length), exact);
    assert.ok(names.length > exact.length);
  });

  it('continues with names that begin with it, each place once', () => {
    const names = namesOf({ q: 'Kreuzbe', limit: 50 });
    assert.equal(names[0], 'Kreuzberg, State of Berlin, DE');
    assert.equal(new Set(names).size, names.length);
    const byCity = namesOf({ q: 'münch' });
    assert.equal(byCity[0], 'Munich, Bavaria, DE');
  });

  it('has the nearest first if there is a point', () => {
    const near = { lat: 39.9, lng: -83.8 };
    assert.equal(namesOf({ q: 'Springfield', near })[0], 'Springfield, Ohio, US');
    assert.equal(namesOf({ q: 'Springf', near })[0], 'Springfield, Ohio, US');
    const acrossDateLine = { lat: -17.5, lng: -179.9 };
    assert.equal(namesOf({ q: 'suv', near: acrossDateLine, limit: 1 })[0], 'Suva, Central, FJ');
  });

  it('has only places of a country if there is one', () => {
    assert.deepEqual(namesOf({ q: 'London', country: 'CA', limit: 1 }), ['London, Ontario, CA']);
    assert.ok(find({ q: 'san', country: 'ES', limit: 50 }).every(({ country }) => country === 'ES'));
    assert.deepEqual(find({ q: 'London', country: 'ZZ' }), []);
  });

  it('has only places that fit what is behind the comma', () => {
    assert.deepEqual(namesOf({ q: 'Springfield, IL' }), ['Springfield, Illinois, US']);
    assert.deepEqual(namesOf({ q: 'Springfield, Bavaria' }), []);
  });

  it('keeps to the limit, and finds nothing for nothing', () => {
    assert.equal(find({ q: 'san', limit: 3 }).length, 3);
    for (const q of ['', ',', '🎷', 's']) assert.ok(find({ q }).length <= 1, q);
  });
});
