// The TypeScript client against a real service: every operation, pages, versions, errors, and the key, which nothing shows.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inspect } from 'node:util';
import {
  type Event,
  headersOf,
  LocalEvents,
  LocalEventsError,
  type Settings,
} from '../../client/src/local-events.ts';
import { startTestService, useTestService } from '../support/service.ts';
import { startFaultyProxy } from './faulty-proxy.ts';
import { failureOf, newEvent } from './samples.ts';

const AGENT = { email: 'agent@example.com', agent_name: 'test agent' };
const PLACE = { lat: 52.52, lng: 13.405 };

const service = useTestService();

async function newClient(settings: Partial<Settings> = {}): Promise<LocalEvents> {
  const { api_key } = await new LocalEvents({ baseUrl: service.url }).register(AGENT);
  return new LocalEvents({ baseUrl: service.url, apiKey: api_key, ...settings });
}

describe('the client', () => {
  it('does every operation of an agent', async () => {
    const { api_key: first } = await new LocalEvents({ baseUrl: `${service.url}/` }).register(AGENT);
    const client = new LocalEvents({ baseUrl: new URL(service.url), apiKey: first });
    const created = await client.createEvent(newEvent({ title: 'Every operation' }));
    const changed = await client.updateEvent(created.event_id, { cost: '5 EUR', url: null });
    assert.deepEqual(changed, { ...created, cost: '5 EUR', url: null });
    const read = await client.getEvent(created.event_id, { include: ['status', 'local'] });
    assert.deepEqual([read.status, read.start_local], ['scheduled', '2031-05-01T18:00:00+02:00']);
    const found = await client.searchNearby({
      ...PLACE,
      radius: 5,
      q: 'operation',
      event_type: ['workshop', 'talk'],
    });
    assert.deepEqual([found.events, found.total], [[changed], 1]);
    assert.deepEqual((await client.listOwnEvents()).events, [changed]);
    assert.equal((await client.getOwnAgent()).agent.event_count, 1);
    const { places } = await client.findPlaces({ q: 'Kreuzberg', country: 'DE' });
    assert.equal(places[0]!.timezone, 'Europe/Berlin');
    assert.deepEqual(await client.listOwnGrants(), { grants: [] });
    assert.equal(await client.endOwnGrants(), undefined);
    assert.equal((await failureOf(client.endOwnGrant(created.agent_id))).code, 'NOT_FOUND');
    const { api_key: second } = await client.rotateKey({ overlap_seconds: 0 });
    assert.equal((await failureOf(client.getOwnAgent())).code, 'INVALID_API_KEY');
    const rotated = new LocalEvents({ baseUrl: service.url, apiKey: second });
    assert.equal(await rotated.deleteEvent(created.event_id), undefined);
    assert.equal((await failureOf(rotated.getEvent(created.event_id))).code, 'NOT_FOUND');
    assert.equal(await rotated.revokeKey(), undefined);
    assert.equal((await failureOf(rotated.getOwnAgent())).code, 'INVALID_API_KEY');
  });

  it('has headers of the response beside the result', async () => {
    const client = await newClient({ strict: false });
    const body = { ...newEvent({ title: 'Headers', timezone: 'Asia/Tokyo' }), price: 5 };
    const created = headersOf(await client.createEvent(body));
    assert.equal(created.get('etag'), '"1"');
    assert.equal(created.get('event-warnings'), 'timezone_mismatch');
    assert.equal(created.get('x-unknown-fields'), 'price');
    assert.equal(created.get('idempotent-replayed'), null);
    assert.equal(headersOf(await client.createEvent(body)).get('idempotent-replayed'), 'true');
    assert.equal(headersOf({}).get('etag'), null);
  });

  it('is refused for what the service does not know, unless strict is false', async () => {
    const query = { ...PLACE, max_cost: 5 };
    const { code, detail } = await failureOf((await newClient()).searchNearby(query));
    assert.equal(code, 'VALIDATION_ERROR');
    assert.deepEqual(
      detail?.map(({ loc, type }) => [loc.join('.'), type]),
      [['query.max_cost', 'extra_forbidden']],
    );
    const page = await (await newClient({ strict: false })).searchNearby(query);
    assert.equal(headersOf(page).get('x-unknown-parameters'), 'max_cost');
  });

  it('reads the other formats', async () => {
    const client = await newClient();
    const { event_id } = await client.createEvent(newEvent({ title: 'Formats' }));
    const { features } = await client.searchNearby({ ...PLACE, q: 'formats', format: 'geojson' });
    assert.deepEqual(
      features.map(({ id, geometry }) => [id, geometry.coordinates]),
      [[event_id, [13.3955, 52.5264]]],
    );
    assert.match(
      await client.getEvent(event_id, { format: 'ics' }),
      /^BEGIN:VCALENDAR\r\n.*SUMMARY:Formats/s,
    );
    assert.equal((await client.getEvent(event_id, { format: 'jsonld' })).name, 'Formats');
  });

  it('sends whatever a query may have', async () => {
    const client = await newClient();
    const title = 'A+B & C=D? ü 音楽 100%';
    const { event_id } = await client.createEvent(newEvent({ title }));
    const found = await client.searchNearby({
      ...PLACE,
      lat: 1e-7,
      q: 'A+B & C=D? ü 音楽 100%',
      starts_after: '2031-05-01T18:00:00+02:00',
      cursor: undefined,
    });
    assert.deepEqual(
      found.events.map((event) => event.event_id),
      [event_id],
    );
  });

  it('searches and reads without a key where the operator allows that', async (t) => {
    const open = await startTestService({ PUBLIC_READ: 'on' }, { until: t });
    const { event_id } = (await (await open.newAgent()).create()) as { event_id: string };
    const reader = new LocalEvents({ baseUrl: open.url });
    assert.equal((await reader.getEvent(event_id)).event_id, event_id);
    assert.equal((await reader.searchNearby(PLACE)).count, 1);
    assert.equal((await failureOf(reader.getOwnAgent())).code, 'MISSING_API_KEY');
  });

  it('works below a path', async (t) => {
    const proxy = await startFaultyProxy(t, service.url);
    const client = await newClient({ baseUrl: `${proxy.url}/below/?a=b#c` });
    assert.equal((await failureOf(client.getEvent('a/../b'))).code, 'NOT_FOUND');
    assert.equal(proxy.requests[0]!.path, '/below/v1/events/a%2F..%2Fb');
  });

  for (const baseUrl of ['localhost:8080', 'file:///events'])
    it(`refuses a baseUrl that is not of the web: ${baseUrl}`, () => {
      assert.throws(() => new LocalEvents({ baseUrl }), TypeError);
    });

  for (const id of ['', '.', '..'])
    it(`refuses ${JSON.stringify(id)} as an ID: the path would be another`, async () => {
      const client = await newClient();
      for (const call of [
        client.getEvent(id),
        client.updateEvent(id, {}),
        client.deleteEvent(id),
        client.endOwnGrant(id),
      ])
        await assert.rejects(call, TypeError);
    });
});

describe('a place by name', () => {
  it('is named in a header, or has candidates that can be sent', async () => {
    const client = await newClient();
    const page = await client.searchNearby({ place: 'Kreuzberg, Berlin' });
    assert.equal(headersOf(page).get('resolved-place'), 'Kreuzberg, Berlin, DE; 52.49973,13.40338');
    const error = await failureOf(client.searchNearby({ place: 'Springfield' }));
    if (error.code !== 'VALIDATION_ERROR') throw error;
    const { place } = error.body.candidates![0]!;
    assert.match(headersOf(await client.searchNearby({ place })).get('resolved-place')!, /^Springfield, /);
  });
});

describe('pages', () => {
  it('have every event once, and begin and end where the caller says', async () => {
    const client = await newClient();
    const titles = Array.from({ length: 7 }, (_, at) => `Page event ${at}`);
    for (const [at, title] of titles.entries())
      await client.createEvent(newEvent({ title, start_at: `2031-06-01T10:0${at}:00`, lat: -40, lng: 100 }));
    const query = { lat: -40, lng: 100, radius: 1, limit: 3 };
    const pages = await Array.fromAsync(client.searchPages(query));
    assert.deepEqual(
      pages.map(({ count, total }) => [count, total]),
      [
        [3, 7],
        [3, 7],
        [1, 7],
      ],
    );
    assert.deepEqual(
      pages.flatMap(({ events }) => events.map(({ title }) => title)),
      titles,
    );
    const [first, ...rest] = pages;
    assert.deepEqual(
      await Array.fromAsync(client.searchPages({ ...query, cursor: first!.next_cursor! })),
      rest,
    );
    const own = await Array.fromAsync(client.listOwnPages({ limit: 3 }));
    assert.deepEqual(
      own.map(({ events }) => events),
      pages.map(({ events }) => events),
    );
    for await (const page of client.searchPages(query)) {
      assert.deepEqual(page, first);
      break;
    }
  });
});

describe('a version', () => {
  it('guards a change and a delete: as an event that was read or written, or as an ETag', async () => {
    const client = await newClient();
    const first = await client.createEvent(newEvent({ title: 'Guarded' }));
    const second = await client.updateEvent(first.event_id, { cost: '1' }, { ifMatch: first });
    const late = await failureOf(client.updateEvent(first.event_id, { cost: '2' }, { ifMatch: first }));
    assert.deepEqual([late.code, late.status, late.cause], ['PRECONDITION_FAILED', 412, undefined]);
    assert.equal((await failureOf(client.deleteEvent(first.event_id, { ifMatch: '"1"' }))).status, 412);
    await client.deleteEvent(first.event_id, { ifMatch: second });
  });

  it('saves reading what is unchanged', async () => {
    const client = await newClient();
    const event = await client.createEvent(newEvent({ title: 'Cached' }));
    const read = await client.getEvent(event.event_id, {}, { ifNoneMatch: event });
    assert.equal(read, undefined);
    await client.updateEvent(event.event_id, { cost: '1' });
    assert.equal((await client.getEvent(event.event_id, {}, { ifNoneMatch: event }))?.cost, '1');
  });

  it('that is missing is never dropped silently', async () => {
    const client = await newClient();
    await client.createEvent(newEvent({ title: 'Without' }));
    const [found] = (await client.searchNearby({ ...PLACE, q: 'without' })).events;
    for (const ifMatch of [found!, null as unknown as Event])
      await assert.rejects(client.deleteEvent(found!.event_id, { ifMatch }), /has no ETag/);
  });

  it('makes edits at the same time come one after another', async () => {
    const client = await newClient();
    const { event_id } = await client.createEvent(newEvent({ title: 'Counter', cost: '0' }));
    const add = () => client.editEvent(event_id, ({ cost }) => ({ cost: `${Number(cost) + 1}` }));
    const edited = await Promise.all(Array.from({ length: 8 }, add));
    assert.deepEqual(edited.map(({ cost }) => Number(cost)).sort(), [1, 2, 3, 4, 5, 6, 7, 8]);
    const unchanged = await client.editEvent(event_id, () => undefined);
    assert.deepEqual([unchanged.cost, headersOf(unchanged).get('etag')], ['8', '"9"']);
  });

  it('is given up after ten edits that others overtook', async () => {
    const client = await newClient();
    const { event_id } = await client.createEvent(newEvent({ title: 'Contended' }));
    let edits = 0;
    const overtaken = client.editEvent(event_id, async () => {
      await client.updateEvent(event_id, { cost: `${++edits}` });
      return { cost: 'mine' };
    });
    assert.equal((await failureOf(overtaken)).code, 'PRECONDITION_FAILED');
    assert.equal(edits, 10);
  });
});

describe('an error', () => {
  it('has code, status, message, request ID and the failing fields', async () => {
    const client = await newClient();
    const invalid = client.createEvent({ ...newEvent(), title: '', lat: 91 });
    const error = await failureOf(invalid);
    assert.ok(error instanceof LocalEventsError && error instanceof Error);
    assert.deepEqual([error.name, error.code, error.status], ['LocalEventsError', 'VALIDATION_ERROR', 422]);
    assert.match(error.message, /^body\.title: .*; body\.lat: /);
    assert.match(error.requestId!, /^\w+-\w+$/);
    assert.equal(headersOf(error).get('x-request-id'), error.requestId);
    // TypeScript knows that this code has them.
    if (error.code !== 'VALIDATION_ERROR') throw error;
    assert.deepEqual(
      error.detail.map(({ loc }) => loc),
      [
        ['body', 'title'],
        ['body', 'lat'],
      ],
    );
    assert.deepEqual(error.body, {
      error: { code: error.code, message: error.message },
      detail: error.detail,
    });
  });

  it('says when nothing of the service has responded, and is not repeated as a write', async (t) => {
    const proxy = await startFaultyProxy(t, service.url);
    const client = await newClient({ baseUrl: proxy.url });
    const strangers = [
      { status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Sign in to this network</h1>' },
      { status: 200, headers: { 'content-type': 'application/json' }, body: 'null' },
      { status: 200, headers: { 'content-type': 'application/json' }, body: '{"events":' },
      { status: 404, headers: { 'content-type': 'text/html' }, body: '<h1>nginx</h1>' },
      { status: 403, headers: { 'content-type': 'application/json' }, body: '{"error":"forbidden"}' },
    ];
    for (const reply of strangers) {
      proxy.faults.push(reply);
      const { code, status, body } = await failureOf(client.getOwnAgent());
      assert.deepEqual([code, status, body], ['UNEXPECTED_RESPONSE', reply.status, undefined]);
    }
    assert.equal(proxy.requests.length, strangers.length);
    assert.equal(
      (await failureOf(new LocalEvents({ baseUrl: service.url }).getOwnAgent())).code,
      'MISSING_API_KEY',
    );
  });
});

describe('the key', () => {
  it('is sent to the service only, not to where it redirects', async (t) => {
    const elsewhere = await startFaultyProxy(t, service.url);
    const proxy = await startFaultyProxy(t, service.url);
    const client = await newClient({ baseUrl: proxy.url });
    for (const status of [301, 307, 308]) {
      proxy.faults.push({ status, headers: { location: `${elsewhere.url}/v1/agents/me` } });
      assert.equal((await failureOf(client.getOwnAgent())).code, 'UNEXPECTED_RESPONSE');
    }
    assert.deepEqual(elsewhere.requests, []);
  });

  it('is not sent to register', async (t) => {
    const proxy = await startFaultyProxy(t, service.url);
    await (await newClient({ baseUrl: proxy.url })).register(AGENT);
    assert.equal(proxy.requests[0]!.headers['x-api-key'], undefined);
  });

  it('is in no client and in no error that is shown', async (t) => {
    const { api_key: key } = await new LocalEvents({ baseUrl: service.url }).register(AGENT);
    const proxy = await startFaultyProxy(t, service.url);
    const settings = { baseUrl: proxy.url, apiKey: key, maxWaitMs: 0 };
    const client = new LocalEvents(settings);
    const shown: unknown[] = [client];
    for (const fault of [
      'lose the request',
      'hang',
      'cut the response',
      { status: 502 },
      { status: 302 },
    ] as const) {
      proxy.faults.push(fault);
      shown.push(await failureOf(client.getOwnAgent({ timeoutMs: 200 })));
    }
    shown.push(
      await failureOf(new LocalEvents({ ...settings, baseUrl: 'http://127.0.0.1:1' }).getOwnAgent()),
    );
    shown.push(await failureOf(client.updateEvent('A', { title: '' })));
    for (const text of [`${key}\n`, ` ${key}`, `${key}ü`, '']) {
      const make = () => new LocalEvents({ ...settings, apiKey: text });
      assert.throws(make, (error) => shown.push(error) > 0 && error instanceof TypeError);
    }
    for (const each of shown) {
      const texts = [inspect(each, { depth: 20, showHidden: true }), JSON.stringify(each), String(each)];
      assert.ok(
        !texts.join().includes(key.slice(4)),
        inspect(each, { depth: 20 }).replaceAll(key, 'THE KEY'),
      );
    }
  });
});
