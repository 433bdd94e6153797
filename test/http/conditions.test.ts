// ETag on every response with a single event, and the conditional requests If-Match and If-None-Match.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { etagOf, isNotModified, knownVersions } from '../../src/http/response/formats.ts';
import { type Answer, assertError, assertInvalid, type Client, newEvent } from '../support/client.ts';
import { ENGINES, type Engine } from '../support/engines.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { size } from '../support/sizes.ts';

const etag = ({ headers }: Answer) => headers.get('etag');

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

for (const engine of size<Engine[]>(['sqlite'], ['sqlite', 'postgres'])) {
  const place = ENGINES[engine];
  describe(`single events on ${engine}`, () => {
    let service: TestService;
    let agent: Client;
    before(async () => {
      service = await startTestService(await place());
      agent = await service.newAgent();
    });
    after(() => service.close());

    const send = (method: string, id: string, headers: Record<string, string>, body?: unknown) =>
      agent.send(method, `/v1/events/${id}`, { headers, ...(body !== undefined && { body }) });

    describe('ETag', () => {
      it('is the version of the event, and differs for each format', async () => {
        const body = newEvent();
        const created = await agent.post('/v1/events', body);
        const path = `/v1/events/${created.body.event_id}`;
        assert.equal(etag(created), '"1"');
        assert.equal(etag(await agent.get(path)), '"1"');
        assert.equal(etag(await agent.patch(path, { cost: '1' })), '"2"');
        assert.equal(etag(await agent.patch(path, {})), '"2"');
        assert.equal(etag(await agent.post('/v1/events', body)), '"2"', 'the event that was there');
        for (const format of ['geojson', 'ics', 'jsonld']) {
          assert.equal(etag(await agent.get(`${path}?format=${format}`)), `"2-${format}"`);
        }
        assert.equal(etag(await agent.send('HEAD', path)), '"2"');
      });

      it('is absent from searches, errors and deletes', async () => {
        const { event_id } = await agent.create();
        assert.equal(etag(await agent.nearby()), null);
        assert.equal(etag(await agent.get('/v1/events/nothing')), null);
        assert.equal(etag(await agent.patch(`/v1/events/${event_id}`, { title: 1 })), null);
        assert.equal(etag(await agent.delete(`/v1/events/${event_id}`)), null);
      });
    });

    describe('If-None-Match', () => {
      it('gives a 304 without a body while the event is unchanged, and the event once it changes', async () => {
        const { event_id } = await agent.create();
        for (const method of ['GET', 'HEAD']) {
          const known = await send(method, event_id, { 'if-none-match': '"1"' });
          assert.equal(known.status, 304);
          assert.equal(known.text, '');
          assert.equal(etag(known), '"1"');
          assert.equal(known.headers.get('vary'), 'Accept');
          for (const name of ['content-type', 'content-length']) assert.equal(known.headers.get(name), null);
          assert.ok(known.headers.get('x-request-id'));
        }
        await agent.patch(`/v1/events/${event_id}`, { cost: '2' });
        const changed = await send('GET', event_id, { 'if-none-match': '"1"' });
        assert.deepEqual([changed.status, changed.body.cost, etag(changed)], [200, '2', '"2"']);
      });

      it('compares the tag of the requested format', async () => {
        const { event_id } = await agent.create();
        const accept = 'text/calendar';
        const ask = async (tag: string) =>
          (await send('GET', event_id, { accept, 'if-none-match': tag })).status;
        assert.deepEqual(
          [await ask('"1-ics"'), await ask('W/"1-ics"'), await ask('*'), await ask('"1"')],
          [304, 304, 304, 200],
        );
      });

      it('does not hide a 404, a 422 or a missing key', async () => {
        const headers = { 'if-none-match': '*' };
        assertError(await send('GET', 'nothing', headers), 404, 'NOT_FOUND');
        const { event_id } = await agent.create();
        assertInvalid(await send('GET', `${event_id}?format=x`, headers));
        const stranger = service.client.with(headers);
        assertError(await stranger.get(`/v1/events/${event_id}`), 401, 'MISSING_API_KEY');
      });

      it('is ignored by writes and searches', async () => {
        const { event_id } = await agent.create();
        const patched = await send('PATCH', event_id, { 'if-none-match': '*' }, { cost: '1' });
        assert.equal(patched.status, 200);
        assert.equal((await agent.with({ 'if-none-match': '"1"' }).nearby()).status, 200);
        assert.equal((await send('DELETE', event_id, { 'if-none-match': '*' })).status, 204);
      });
    });

    describe('If-Match', () => {
      it('lets a PATCH through while the tag, of any format, matches; else responds 412', async () => {
        const { event_id } = await agent.create();
        for (const [at, tag] of ['"1"', '"2-geojson"', '"3-ics"', '"1", "4-jsonld"', '*'].entries()) {
          const patched = await send('PATCH', event_id, { 'if-match': tag }, { cost: tag });
          assert.deepEqual([patched.status, etag(patched)], [200, `"${at + 2}"`], tag);
        }
        for (const tag of ['"1"', '"5-geojson"', 'W/"6"', '6', '', '"7"']) {
          assertError(
            await send('PATCH', event_id, { 'if-match': tag }, { cost: 'lost' }),
            412,
            'PRECONDITION_FAILED',
          );
        }
        const left = await agent.get(`/v1/events/${event_id}`);
        assert.deepEqual([left.body.cost, etag(left)], ['*', '"6"']);
      });

      it('lets a DELETE through while the tag matches; else responds 412', async () => {
        const { event_id } = await agent.create();
        await agent.patch(`/v1/events/${event_id}`, { cost: '2' });
        for (const tag of ['"1"', '"3"', 'W/"2"', 'nonsense']) {
          assertError(await send('DELETE', event_id, { 'if-match': tag }), 412, 'PRECONDITION_FAILED');
        }
        assert.equal((await agent.get(`/v1/events/${event_id}`)).status, 200);
        assert.equal((await send('DELETE', event_id, { 'if-match': '"2-ics"' })).status, 204);
        assertError(await send('DELETE', event_id, { 'if-match': '*' }), 404, 'NOT_FOUND');
      });

      it('applies to an empty PATCH too', async () => {
        const { event_id } = await agent.create();
        const same = await send('PATCH', event_id, { 'if-match': '"1"' }, {});
        assert.deepEqual([same.status, etag(same)], [200, '"1"']);
        const stale = await send('PATCH', event_id, { 'if-match': '"2"' }, {});
        assertError(stale, 412, 'PRECONDITION_FAILED');
      });

      it('is checked after the body, existence and ownership', async () => {
        const { event_id } = await agent.create();
        const stale = { 'if-match': '"9"' };
        assertInvalid(await send('PATCH', event_id, stale, { title: 1 }));
        assertError(await send('PATCH', 'nothing', stale, { cost: '1' }), 404, 'NOT_FOUND');
        assertError(await send('DELETE', '01JZ9GX4T0QW3N1V8R5Y7K2MHD', stale), 404, 'NOT_FOUND');
        const other = (await service.newAgent()).with(stale);
        assertError(await other.patch(`/v1/events/${event_id}`, { cost: '1' }), 404, 'NOT_FOUND');
        assertError(await other.delete(`/v1/events/${event_id}`), 404, 'NOT_FOUND');
        const owned = (await service.newAgent()).with({ 'if-match': '*' });
        assertError(await owned.patch(`/v1/events/${event_id}`, { cost: '1' }), 404, 'NOT_FOUND');
      });

      it('is checked before the rules that involve the stored event, and before duplicates', async () => {
        const twin = await agent.create();
        const { event_id } = await agent.create({ end_at: '2031-05-01T20:00:00Z' });
        const late = { start_at: '2031-05-01T21:00:00Z' };
        const { title } = twin;
        assertError(await send('PATCH', event_id, { 'if-match': '"9"' }, late), 412, 'PRECONDITION_FAILED');
        assertInvalid(await send('PATCH', event_id, { 'if-match': '"1"' }, late));
        assertError(
          await send('PATCH', event_id, { 'if-match': '"9"' }, { title }),
          412,
          'PRECONDITION_FAILED',
        );
        assertError(await send('PATCH', event_id, { 'if-match': '"1"' }, { title }), 409, 'DUPLICATE_EVENT');
        assert.equal(etag(await agent.get(`/v1/events/${event_id}`)), '"1"');
      });

      it('is ignored by a create', async () => {
        const created = await agent.send('POST', '/v1/events', {
          body: newEvent(),
          headers: { 'if-match': '"9"' },
        });
        assert.equal(created.status, 200);
      });
    });
  });
}
