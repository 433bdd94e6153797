// Which names of unknown query parameters a response may show. The header that has them is in test/acceptance/.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ParameterNames, parseQuery, withCursor } from '../../src/http/request/query.ts';
import { anyText } from '../support/any-text.ts';

const KNOWN = new ParameterNames(new Set(['lat', 'lng', 'cursor']));
const NONE = new ParameterNames(new Set());

const nameUnknown = (query: string, known: ParameterNames) => parseQuery(query, known).unknown;

describe('unknown parameters', () => {
  const cases: [query: string, names: string | undefined][] = [
    ['', undefined],
    ['lat=1&lng=2&cursor=x', undefined],
    ['lat&lng', undefined],
    ['lat=1&lng', undefined],
    ['lat=1=2&lng==', undefined],
    ['lat=1&latlng=2', 'latlng'],
    ['lat=1&x', 'x'],
    ['&&lat=1&', undefined],
    ['l%61t=1', undefined],
    ['latitude=1', 'latitude'],
    ['latitude', 'latitude'],
    ['LAT=1', 'LAT'],
    ['b=1&lat=2&a=3', 'b, a'],
    ['a=1&a=2&b=3&a', 'a, b'],
    ['lat%00=1', '?'],
    ['lat+=1', '?'],
    ['=5', '?'],
    ['%zz=1&%ff=2', '?'],
    ['a,b=1&c d=2&"x"=3&é=4&<b>=5', '?'],
    ['filter[lat]=1&ok=2', '?, ok'],
    ['a.b-c_D9=1', 'a.b-c_D9'],
    ['__proto__=1&constructor=2&toString=3', '__proto__, constructor, toString'],
    [`${'x'.repeat(50)}=1`, 'x'.repeat(50)],
    [`${'x'.repeat(51)}=1`, '?'],
    [`lev_${'x'.repeat(38)}=1&lev_=2`, '?'],
    ['a=lat', 'a'],
    ['%6cev_secret=1', '?'],
    [Array.from({ length: 12 }, (_, at) => `p${at}=1`).join('&'), 'p0, p1, p2, p3, p4, p5, p6, p7, p8, p9'],
  ];
  for (const [query, names] of cases) {
    it(`are ${names} in ${JSON.stringify(query.slice(0, 60))}`, () => {
      assert.equal(nameUnknown(query, KNOWN), names);
    });
  }

  it('are all parameters if none is known', () => {
    assert.equal(nameUnknown('', NONE), undefined);
    assert.equal(nameUnknown('&', NONE), undefined);
    assert.equal(nameUnknown('lat=1&=2', NONE), 'lat, ?');
  });

  it('are shown only as short names of plain characters, at most ten, whatever is sent', () => {
    const piece = fc.oneof(
      anyText({ maxLength: 60 }),
      fc.constantFrom('lat', 'lng', '%', '&', '=', '+', '%0d%0a', '%E2%80%A8', 'lev_'),
    );
    const property = fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const names = nameUnknown(pieces.join(''), KNOWN)?.split(', ') ?? [];
      assert.ok(names.length <= 10);
      for (const name of names) assert.match(name, /^(?:\?|(?!lev_)[A-Za-z0-9_.-]{1,50})$/);
    });
    fc.assert(property, { seed: 20_261_115, numRuns: 500 });
  });
});

describe('withCursor', () => {
  const cases: [query: string, kept: string][] = [
    ['lat=1&lng=2', 'lat=1&lng=2'],
    ['lat=1&&lng=2', 'lat=1&&lng=2'],
    ['cursor=old&lat=1', 'lat=1'],
    ['lat=1&cursor=old&lng=%32', 'lat=1&lng=%32'],
    ['c%75rsor=old&l%61t=1', 'l%61t=1'],
    ['lat=1&secret=x&&lng=2&%zz=1&', 'lat=1&lng=2'],
  ];
  for (const [query, kept] of cases) {
    it(`leaves ${kept} of ${query}`, () =>
      assert.equal(withCursor(parseQuery(query, KNOWN), 'new'), `${kept}&cursor=new`));
  }
});
