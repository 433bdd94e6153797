// How If-Match and If-None-Match are parsed. What they do is in test/acceptance/, and two clients at once in edits.test.ts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { etagOf, isNotModified, knownVersions } from '../../src/http/response/formats.ts';

describe('parsing of If-Match', () => {
  const cases: [header: string | undefined, versions: readonly number[] | undefined][] = [
    [undefined, undefined],
    ['*', undefined],
    [' * ', undefined],
    ['"3"', [3]],
    ['"3-geojson"', [3]],
    ['"3-ics", "4-jsonld","5"', [3, 4, 5]],
    ['"12345"', [12345]],
    // Weak tags never match strongly.
    ['W/"3"', []],
    ['W/"3", "4"', [4]],
    // Not a tag of this service.
    ['', []],
    ['3', []],
    ['"3', []],
    ["'3'", []],
    ['"03"', []],
    ['"0"', []],
    ['"-3"', []],
    ['"3-xml"', []],
    ['"3-"', []],
    ['" 3"', []],
    ['"3.0"', []],
    ['"1e3"', []],
    ['"*"', []],
    ['*, "3"', []],
    ['w/"3"', []],
    ['W/ "3"', []],
    ['garbage"3"', []],
    ['"3"garbage', []],
    ['"3""3"', []],
    ['"3" "4"', []],
    [' ,, "3" ,, "4", ', [3, 4]],
    ['"99999999999999999999"', []],
    ['"abc"', []],
  ];
  for (const [header, versions] of cases) {
    it(`${JSON.stringify(header)} names ${JSON.stringify(versions) ?? 'any version'}`, () => {
      assert.deepEqual(knownVersions(header), versions);
    });
  }
});

describe('parsing of If-None-Match', () => {
  const tag = etagOf(3, 'geojson');
  for (const header of [
    '"3-geojson"',
    'W/"3-geojson"',
    '*',
    '"1", W/"3-geojson", "x"',
    '"a,b","3-geojson"',
  ]) {
    it(`${header} matches ${tag}`, () => assert.equal(isNotModified(header, tag), true));
  }
  for (const header of [
    undefined,
    '',
    '3-geojson',
    '"3"',
    '"3-ics"',
    '"3-geojson',
    '"*"',
    '*, "1"',
    '"13-geojson"',
  ]) {
    it(`${header} does not match ${tag}`, () => assert.equal(isNotModified(header, tag), false));
  }
});
