// How Accept is parsed, and what needs a setting or a page of long events. The formats themselves are in test/acceptance/ and test/domain/.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import ICAL from 'ical.js';
import { acceptedFormat, type Format } from '../../src/http/response/formats.ts';
import { startTestService } from '../support/service.ts';

const ACCEPTED: [accept: string | undefined, format: Format][] = [
  [undefined, 'json'],
  ['', 'json'],
  ['*/*', 'json'],
  ['application/json', 'json'],
  ['application/*', 'json'],
  ['text/*', 'json'],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'json'],
  ['image/png', 'json'],
  ['application/xml, text/plain', 'json'],
  ['nonsense', 'json'],
  ['application/geo+json', 'geojson'],
  ['text/calendar', 'ics'],
  ['application/ld+json', 'jsonld'],
  ['APPLICATION/Geo+JSON', 'geojson'],
  ['text/calendar; charset=utf-8', 'ics'],
  ['application/ld+json;profile="http://www.w3.org/ns/json-ld#compacted, x;q=0"', 'jsonld'],
  ['application/geo+json-seq', 'json'],
  ['x-application/geo+json', 'json'],
  ['text/calendar2', 'json'],
  // Qualities.
  ['application/geo+json;q=0.5, text/calendar;q=0.8', 'ics'],
  ['application/geo+json;q=0.8, text/calendar;q=0.5', 'geojson'],
  ['application/geo+json;q=0.001', 'geojson'],
  ['application/geo+json;q=0', 'json'],
  ['application/geo+json;q=0.000', 'json'],
  ['application/geo+json; Q=0.5, text/calendar ; q=0.6', 'ics'],
  ['application/json;q=0.5, application/geo+json', 'geojson'],
  ['application/json;q=0, application/geo+json;q=0.1', 'geojson'],
  ['application/geo+json;q=0.9, application/json', 'json'],
  ['application/geo+json, */*;q=0.8', 'geojson'],
  ['application/geo+json;q=0.5, */*;q=0.8', 'json'],
  ['application/geo+json;q=0.5, application/*;q=0.2, */*', 'geojson'],
  ['application/geo+json;q=0.5, application/json;q=0.2, */*', 'geojson'],
  // Ties: JSON first, then in order.
  ['application/geo+json, application/json', 'json'],
  ['application/geo+json, */*', 'json'],
  ['text/calendar, application/geo+json', 'ics'],
  ['application/geo+json, text/calendar', 'geojson'],
  // A range with an invalid quality is ignored.
  ['application/geo+json;q=2', 'json'],
  ['application/geo+json;q=high, text/calendar;q=0.1', 'ics'],
  ['application/geo+json;q=', 'json'],
  ['application/geo+json;q=0.1234', 'json'],
  // Unterminated quotes.
  ['application/ld+json;profile="a, text/calendar', 'jsonld'],
  ['text/calendar;a="\\", application/json', 'ics'],
  [', ,application/geo+json,', 'geojson'],
];

describe('Accept', () => {
  for (const [accept, format] of ACCEPTED) {
    it(`${JSON.stringify(accept)} gets ${format}`, () => assert.equal(acceptedFormat(accept), format));
  }

  it('is parsed whatever it contains', () => {
    for (const piece of ['"', '\\"', '"\\', ',', ';', ';q=', 'application/geo+json,', '"a\\"']) {
      const long = `text/calendar;a=${piece.repeat(16_000 / piece.length)}`;
      assert.ok(['json', 'ics', 'geojson'].includes(acceptedFormat(long)));
    }
  });
});

it('responses vary by Origin, too, if CORS_ORIGINS is a list', async (t) => {
  const service = await startTestService({ CORS_ORIGINS: 'https://calendar.example' }, { until: t });
  const page = (await service.newAgent()).with({ origin: 'https://calendar.example' });
  const { event_id } = await page.create();
  assert.equal((await page.nearby()).headers.get('vary'), 'Origin, Accept');
  const known = page.with({ 'if-none-match': '*' });
  assert.equal((await known.get(`/v1/events/${event_id}`)).headers.get('vary'), 'Origin, Accept');
  assert.equal((await page.get('/v1/events/nothing')).headers.get('vary'), 'Origin');
});

it('a page in any format has the longest events in full', async (t) => {
  const service = await startTestService({}, { until: t });
  const agent = await service.newAgent();
  const description = '🎪,\n'.repeat(3_333);
  for (let number = 0; number < 30; number++)
    await agent.create({ title: `${number}`, description, lat: -70 });
  const [geojson, ics, jsonld] = await Promise.all(
    ['geojson', 'ics', 'jsonld'].map((format) => agent.nearby({ lat: -70, lng: 13.405, radius: 1, format })),
  );
  assert.equal(geojson!.body.features.length, 30);
  for (const { properties } of geojson!.body.features) assert.equal(properties.description, description);
  for (const part of jsonld!.body['@graph']) assert.equal(part.description, description);
  const [, , components] = ICAL.parse(ics!.text);
  assert.equal(components.length, 30);
  for (const [, properties] of components) {
    assert.equal(properties.find(([name]: string[]) => name === 'description')[3], description);
  }
});
