// Reading without a key (PUBLIC_READ): who may read what, which quota counts, and what the documents say. Every kind of credential is in
// access-matrix.test.ts, what one network can do to others in test/attacks.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { closeBrowser, getBrowser, visit } from '../console/console.ts';
import { assertError, type Client } from '../support/client.ts';
import { ENGINES, type Engine } from '../support/engines.ts';
import { findOverflow, findViolations } from '../support/page-checks.ts';
import { RawConnection, request } from '../support/raw-http.ts';
import { startTestService, useTestService } from '../support/service.ts';

const ON = { PUBLIC_READ: 'on' };
const FORMATS = ['json', 'geojson', 'ics', 'jsonld'];

/** All responses with these parameters are the same bytes, with and without a key. */
const SEARCHES = [
  '',
  '&q=lan*',
  '&include=distance,local&sort=distance',
  ...FORMATS.map((f) => `&format=${f}`),
];

describe('without PUBLIC_READ', () => {
  const service = useTestService();

  it('a missing key is the 401 of version 1.0.0', async () => {
    for (const path of [
      '/v1/events/nearby?lat=0&lng=0',
      '/v1/events/01JZ9GX4T0QW3N1V8R5Y7K2MHD',
      '/v1/places?q=Wien',
    ]) {
      const answer = await service.client.get(path);
      assert.equal(
        answer.text,
        '{"error":{"code":"MISSING_API_KEY","message":"The API key is missing. Send it in the X-API-Key header; POST /v1/auth/register gives you one."}}',
      );
      assert.equal(answer.status, 401);
      assert.equal(answer.headers.get('vary'), null);
      assert.equal(answer.headers.get('ratelimit'), null);
    }
    const agent = await service.newAgent();
    assert.equal((await agent.nearby()).headers.get('vary'), 'Accept');
  });

  it('no document says that reading needs no key', async () => {
    for (const path of ['/', '/openapi.json', '/docs', '/llms.txt', '/for-agents']) {
      const { text } = await service.client.get(path);
      assert.ok(!/needs? no key|requests per hour without a key/i.test(text), path);
    }
    const { security } = (await service.client.get('/openapi.json')).body.paths['/v1/events/nearby'].get;
    assert.deepEqual(security, [{ ApiKey: [] }]);
  });
});

for (const engine of ['sqlite', 'postgres'] as Engine[]) {
  describe(`with PUBLIC_READ on ${engine}`, () => {
    const service = useTestService(async () => ({
      ...ON,
      ...(await ENGINES[engine]()),
      PUBLIC_READS_PER_HOUR: '100',
      TRUST_PROXY: 'loopback',
    }));
    /** Somebody without a key, in this network. */
    const from = (address: string) => service.client.with({ 'x-forwarded-for': address });

    it('searches and events are the same as with a key', async () => {
      const agent = await service.newAgent();
      const { event_id } = await agent.create({ title: 'Lantern workshop', lat: 0, lng: 0 });
      const reader = from('192.0.2.1');
      const paths = [
        ...SEARCHES.map((more) => `/v1/events/nearby?lat=0&lng=0${more}`),
        ...FORMATS.map((format) => `/v1/events/${event_id}?format=${format}`),
      ];
      for (const path of paths) {
        const [mine, theirs] = [await reader.get(path), await agent.get(path)];
        assert.equal(mine.status, 200, path);
        assert.equal(mine.text, theirs.text);
        assert.equal(mine.headers.get('vary'), 'X-API-Key, Accept');
        assert.equal(theirs.headers.get('vary'), 'X-API-Key, Accept');
        const head = await reader.send('HEAD', path);
        assert.equal(head.headers.get('content-length'), mine.headers.get('content-length'));
      }
      const places = await reader.get('/v1/places?q=Wien');
      assert.equal(places.status, 200);
      assert.equal(places.text, (await agent.get('/v1/places?q=Wien')).text);
      assert.equal(places.headers.get('vary'), 'X-API-Key');
      const known = { headers: { 'if-none-match': '"1"' } };
      assert.equal((await reader.send('GET', `/v1/events/${event_id}`, known)).status, 304);
    });

    it('a network has a quota of its own, apart from those of agents', async () => {
      const agent = (await service.newAgent()).with({ 'x-forwarded-for': '192.0.2.2' });
      const reader = from('192.0.2.2');
      for (let left = 99; left >= 0; left--) {
        const answer = await (left === 98 ? reader.get('/v1/events/nearby') : reader.nearby());
        assert.equal(answer.status, left === 98 ? 422 : 200);
        assert.equal(answer.headers.get('ratelimit-policy'), '"default";q=100;w=3600');
        assert.match(answer.headers.get('ratelimit')!, new RegExp(`^"default";r=${left};t=3[56]\\d\\d$`));
      }
      const refused = await reader.nearby();
      assertError(refused, 429, 'RATE_LIMITED');
      assert.match(
        refused.body.error.message,
        /100 requests per hour without a key\. POST \/v1\/auth\/register/,
      );
      assert.match(refused.headers.get('retry-after')!, /^3[56]\d\d$/);
      assert.match(refused.headers.get('ratelimit')!, /^"default";r=0;/);
      assert.equal(refused.headers.get('vary'), 'X-API-Key');
      assert.equal((await agent.nearby()).status, 200);
      assert.equal((await from('192.0.2.3').nearby()).status, 200);
      assert.equal((await reader.register()).headers['x-forwarded-for'], '192.0.2.2');
      service.clock.advance(3_600_000);
      assert.equal((await reader.nearby()).status, 200);
    });
  });
}

describe('with PUBLIC_READ', () => {
  const service = useTestService({
    ...ON,
    PUBLIC_READS_PER_HOUR: '2',
    PUBLIC_READ_NETWORKS: '203.0.113.0/24:5,203.0.113.128/25:3,203.0.113.255/32:0,2001:db8::/32:4',
    TRUST_PROXY: 'loopback',
    CORS_ORIGINS: 'https://a.example',
    LOG_AGENT: 'on',
  });
  const from = (address: string) => service.client.with({ 'x-forwarded-for': address });

  /** Statuses of searches from these addresses. */
  async function statuses(...addresses: string[]): Promise<number[]> {
    const seen: number[] = [];
    for (const address of addresses) seen.push((await from(address).nearby()).status);
    return seen;
  }

  it('a key that is sent must be valid, and costs no request of the network', async () => {
    const client = from('192.0.2.10');
    for (const key of ['', 'lev_wrong', 'null']) {
      for (let times = 0; times < 3; times++) {
        const answer = await client.with({ 'x-api-key': key }).nearby();
        assertError(answer, 401, key === '' ? 'MISSING_API_KEY' : 'INVALID_API_KEY');
        assert.equal(answer.headers.get('vary'), 'X-API-Key');
        assert.equal(answer.headers.get('ratelimit'), null);
      }
    }
    const agent = await client.register();
    for (let times = 0; times < 3; times++) assert.equal((await agent.nearby()).status, 200);
    assert.deepEqual(await statuses('192.0.2.10', '192.0.2.10', '192.0.2.10'), [200, 200, 429]);
  });

  it('everything else needs a key', async () => {
    const client = from('192.0.2.11');
    const id = '01JZ9GX4T0QW3N1V8R5Y7K2MHD';
    for (const [method, path] of [
      ['GET', '/v1/agents/me'],
      ['GET', '/v1/agents/me/events'],
      ['POST', '/v1/events'],
      ['PATCH', `/v1/events/${id}`],
      ['DELETE', `/v1/events/${id}`],
      ['POST', '/v1/auth/rotate'],
      ['POST', '/mcp'],
    ] as const) {
      const answer = await client.send(method, path);
      assertError(answer, 401, 'MISSING_API_KEY');
      assert.equal(answer.headers.get('vary'), null);
    }
    assert.equal((await client.nearby()).headers.get('ratelimit')!.split(';')[1], 'r=1');
  });

  it('addresses of a listed network share a quota; the smallest network counts', async () => {
    assert.deepEqual(
      await statuses('203.0.113.1', '203.0.113.2', '203.0.113.3', '::ffff:203.0.113.4', '203.0.113.5:99'),
      [200, 200, 200, 200, 200],
    );
    assert.deepEqual(await statuses('203.0.113.6', '203.0.113.127'), [429, 429]);
    assert.deepEqual(await statuses('203.0.113.128', '203.0.113.200', '203.0.113.254'), [200, 200, 200]);
    assert.deepEqual(await statuses('203.0.113.129'), [429]);
    const free = await from('203.0.113.255').nearby();
    assert.equal(free.status, 200);
    assert.equal(free.headers.get('ratelimit'), null);
    assert.deepEqual(
      await statuses('2001:db8:1::1', '2001:db8:2::1', '[2001:db8:3::1]:443', '2001:db8:4::1', '2001:db8::1'),
      [200, 200, 200, 200, 429],
    );
    assert.deepEqual(
      await statuses('2001:db9::1', '2001:db9::2', '2001:db9::3', '2001:db9:0:1::1'),
      [200, 200, 429, 200],
    );
  });

  it('the line of a request has the network, and no agent', async () => {
    await from('192.0.2.12').nearby();
    const line = service.log.at(-1)!;
    assert.equal(line.network, '192.0.2.12');
    assert.equal('agent' in line, false);
  });

  it('other sites can read responses if they are allowed to', async () => {
    const answer = await from('192.0.2.14').with({ origin: 'https://a.example' }).nearby();
    assert.equal(answer.headers.get('access-control-allow-origin'), 'https://a.example');
    assert.equal(answer.headers.get('vary'), 'Origin, X-API-Key, Accept');
    const other = await from('192.0.2.14').with({ origin: 'https://b.example' }).nearby();
    assert.equal(other.headers.get('access-control-allow-origin'), null);
  });

  it('the documents say so', async () => {
    const { paths, tags } = (await service.client.get('/openapi.json')).body;
    assert.deepEqual(paths['/v1/events/nearby'].get.security, [{ ApiKey: [] }, {}]);
    assert.deepEqual(paths['/v1/events/{event_id}'].get.security, [{ ApiKey: [] }, {}]);
    assert.deepEqual(paths['/v1/places'].get.security, [{ ApiKey: [] }, {}]);
    assert.deepEqual(paths['/v1/events/{event_id}'].patch.security, [{ ApiKey: [] }]);
    assert.match(paths['/v1/events/nearby'].get.description, / Needs no key: /);
    assert.match(tags[1].description, /Needs a key, unless an operation says otherwise\.$/);
    assert.match((await service.client.get('/')).text, /Searching and reading need no key\./);
    for (const path of ['/llms.txt', '/for-agents']) {
      const { text } = await service.client.get(path);
      assert.match(text, /Searching and reading need no key, 2 times per hour from one network/, path);
      assert.match(text, /requests per hour without a key from one network/, path);
    }
    const docs = (await service.client.get('/docs')).text;
    assert.match(docs, /id="searchNearby" autocomplete="off" data-access="key" data-public data-content/);
    assert.match(docs, /id="createEvent" autocomplete="off" data-access="key" data-content/);
  });
});

describe('pages with PUBLIC_READ', () => {
  const service = useTestService(ON);
  after(() => closeBrowser());

  it('the front page searches at once, without a key, and says so', async () => {
    const agent: Client = await service.newAgent();
    await agent.create({ title: 'Lantern workshop', lat: 52.52, lng: 13.4, timezone: 'Europe/Berlin' });
    for (const viewport of [
      { width: 1280, height: 900 },
      { width: 320, height: 700 },
    ]) {
      const visitor = await visit(await getBrowser(), service.url, '/', { viewport });
      const { page } = visitor;
      await page.locator('#results li').getByText('Lantern workshop').waitFor();
      await page.getByText('Searching needs no key here, 600 times an hour from your network.').waitFor();
      assert.doesNotMatch(await page.locator('#curl').innerText(), /X-API-Key/);
      assert.deepEqual(await findViolations(page), []);
      assert.equal(await findOverflow(page), 0);
      await page.getByLabel('API key').fill('lev_wrong');
      await page.getByRole('button', { name: 'Search', exact: true }).click();
      await page.getByText('This is not a key of this service.').waitFor();
      assert.match(await page.locator('#curl').innerText(), /X-API-Key: lev_wron…/);
      await visitor.context.close();
    }
  });

  it('/docs sends a search without a key', async () => {
    const visitor = await visit(await getBrowser(), service.url, '/docs');
    const form = visitor.page.locator('#searchNearby');
    await form.getByText('Without a key.').waitFor();
    assert.doesNotMatch(await form.locator('.sample').innerText(), /X-API-Key/);
    await form.getByRole('button', { name: 'Send' }).click();
    await form.getByText('200 OK').waitFor();
    await visitor.page.locator('#createEvent').getByText('No key yet.').waitFor();
    await visitor.context.close();
  });
});

it('all readers of a network together may have as many requests in progress as one agent', async (test) => {
  const service = await startTestService({ ...ON, MAX_REQUESTS_PER_AGENT: '2' }, { until: test });
  const agent = await service.newAgent();
  const connection = await RawConnection.open(service.url);
  test.after(() => connection.destroy());
  const search = (headers = {}) => request('GET', '/v1/events/nearby?lat=0&lng=0', headers);
  connection.write(search().repeat(4) + search(agent.headers));
  const statuses: (number | undefined)[] = [];
  while (statuses.length < 5) statuses.push((await connection.next())?.status);
  assert.deepEqual(statuses, [200, 200, 429, 429, 200]);
});

it('PUBLIC_READS_PER_HOUR=0 means no limit', async (test) => {
  const service = await startTestService({ ...ON, PUBLIC_READS_PER_HOUR: '0' }, { until: test });
  const answer = await service.client.nearby();
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('ratelimit'), null);
});
