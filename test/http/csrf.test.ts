// CSRF: the session cookie with every combination of Sec-Fetch-Site, Origin and Referer, on every administrative route of
// /openapi.json and on the console's own endpoints.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import { ConsoleBrowser } from '../support/console-browser.ts';
import { startTestService, type TestService } from '../support/service.ts';

const SITES = [undefined, 'same-origin', 'same-site', 'cross-site', 'none'] as const;
const ODD_SITES = ['', 'Same-Origin', 'same-origin, cross-site', 'same-origin ,', 'other'] as const;

interface Said {
  readonly site: string | undefined;
  readonly origin: string | undefined;
  readonly referer: string | undefined;
}

describe('the session cookie', () => {
  let service: TestService;
  let cookie: string;
  let own: string;
  const agent = new Agent({ keepAlive: true });
  before(async () => {
    service = await startTestService();
    own = service.url;
    cookie = `local_events_session=${await newSession()}`;
  });
  after(async () => {
    agent.destroy();
    await service.close();
  });

  async function newSession(): Promise<string> {
    const administrator = await service.newAdministrator();
    const browser = new ConsoleBrowser(service.client);
    const { authorization } = administrator.headers;
    const token = authorization!.slice('Bearer '.length);
    assert.equal((await browser.send('POST', '/admin/token', { body: { token } })).status, 204);
    return browser.cookies.get('local_events_session')!;
  }

  /** Sends with node:http, because fetch() sets these headers itself. */
  async function send(method: string, path: string, headers: Record<string, string | undefined>, body = '') {
    const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
    const asked = request(own + path, { method, agent, headers: sent as Record<string, string> });
    asked.end(body);
    const [response] = await once(asked, 'response');
    const answer = await text(response);
    return { status: response.statusCode as number, answer, headers: response.headers };
  }

  const toHeaders = ({ site, origin, referer }: Said) => ({ 'sec-fetch-site': site, origin, referer });

  /** The expected rule, written independently of the product. */
  function counts({ site, origin, referer }: Said): boolean {
    if (site !== undefined) return site === 'same-origin';
    if (origin !== undefined) return origin === own;
    return referer === own || referer?.startsWith(`${own}/`) === true;
  }

  const origins = () => [undefined, own, 'https://evil.example'];
  const referers = () => [undefined, `${own}/admin/agents?q=x`, 'https://evil.example/admin'];
  const combine = (sites: readonly (string | undefined)[], from: typeof origins, by: typeof referers) =>
    sites.flatMap((site) =>
      from().flatMap((origin) => by().map((referer): Said => ({ site, origin, referer }))),
    );

  /** Every administrative operation of the OpenAPI document, with IDs that do not exist, and HEAD for each GET. */
  async function administrativeRoutes(): Promise<[method: string, path: string][]> {
    const { paths } = (await service.client.get('/openapi.json')).body as { paths: Record<string, object> };
    return Object.entries(paths)
      .filter(([path]) => path.startsWith('/v1/admin/'))
      .flatMap(([template, operations]) => {
        const path = template
          .replace('{agent_id}', '0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90')
          .replace('{event_id}', '01JZ9GX4T0QW3N1V8R5Y7K2MHD');
        const { parameters: _, ...byMethod } = operations as { readonly parameters?: object };
        const methods = Object.keys(byMethod).map((method) => method.toUpperCase());
        if (methods.includes('GET')) methods.push('HEAD');
        return methods.map((method): [string, string] => [method, path]);
      });
  }

  it('is accepted on every administrative route only if the request comes from a page of the service', async () => {
    const routes = await administrativeRoutes();
    assert.ok(routes.length >= 10);
    let counted = 0;
    for (const [method, path] of routes) {
      for (const said of combine(SITES, origins, referers)) {
        const { status, answer } = await send(method, path, { cookie, ...toHeaders(said) });
        const what = `${method} ${path} ${JSON.stringify(said)} is ${status} ${answer}`;
        if (counts(said)) assert.notEqual(status, 401, what);
        else assert.equal(status, 401, what);
        if (!counts(said) && method !== 'HEAD') {
          assert.equal(JSON.parse(answer).error.code, 'MISSING_TOKEN', what);
          assert.match(answer, /only for requests from the console’s own pages/);
        }
        if (counts(said)) counted++;
      }
    }
    assert.equal(counted, routes.length * (9 + 3 + 1));
  });

  it('is required, wherever the request comes from', async () => {
    for (const [method, path] of await administrativeRoutes()) {
      for (const said of combine(SITES, origins, referers)) {
        const { status } = await send(method, path, toHeaders(said));
        assert.equal(status, 401, `${method} ${path} ${JSON.stringify(said)}`);
      }
    }
  });

  it('is not accepted from origins that only look like that of the service', async () => {
    const { port } = new URL(own);
    const oddOrigins = () => [
      ...[undefined, own, 'null', '', `${own}/`, `${own}.evil.example`, own.replace('http:', 'https:')],
      ...[`http://localhost:${port}`, 'http://127.0.0.1', `http://127.0.0.1:${port}1`, own.toUpperCase()],
      ...[`${own}, https://evil.example`, `http://user@127.0.0.1:${port}`],
    ];
    const oddReferers = () => [
      ...[undefined, '', own, `${own}/`, `${own}/admin`, `${own}.evil.example/admin`, `${own}@evil.example/`],
      ...[`https://evil.example/${own}`, `https://evil.example/?${own}/admin`, '/admin', 'null'],
      ...[own.replace('http:', 'https:'), `http://localhost:${port}/admin`, `//127.0.0.1:${port}/admin`],
    ];
    for (const said of combine([...SITES, ...ODD_SITES], oddOrigins, oddReferers)) {
      const { status } = await send('GET', '/v1/admin/me', { cookie, ...toHeaders(said) });
      assert.equal(status, counts(said) ? 200 : 401, JSON.stringify(said));
    }
  });

  it('is ignored when a token is sent, even an invalid one', async () => {
    const { authorization } = (await service.newAdministrator('other@example.com')).headers;
    for (const said of combine(SITES, origins, referers)) {
      const headers = { cookie, ...toHeaders(said) };
      const good = await send('GET', '/v1/admin/me', { ...headers, authorization });
      assert.equal(JSON.parse(good.answer).email, 'other@example.com');
      const bad = await send('GET', '/v1/admin/me', { ...headers, authorization: 'Bearer x.y.z' });
      assert.equal(JSON.parse(bad.answer).error.code, 'INVALID_TOKEN');
    }
  });

  it('lets a page of another site change nothing', async () => {
    const owner = await service.newAgent();
    const { event_id, agent_id } = await owner.create();
    for (const said of combine(SITES, origins, referers).filter((one) => !counts(one))) {
      const headers = { cookie, ...toHeaders(said), 'content-type': 'application/json' };
      await send('DELETE', `/v1/admin/events/${event_id}`, headers);
      await send('DELETE', `/v1/admin/agents/${agent_id}/events`, headers);
      await send('DELETE', `/v1/admin/agents/${agent_id}`, headers);
      await send('PATCH', `/v1/admin/agents/${agent_id}`, headers, '{"is_active":false}');
      assert.equal((await send('POST', '/admin/logout', headers)).status, 401);
      assert.equal((await send('POST', '/admin/logout-everywhere', headers)).status, 401);
    }
    assert.equal((await owner.get(`/v1/events/${event_id}`)).status, 200);
    assert.equal(
      (await send('GET', '/v1/admin/me', { cookie, 'sec-fetch-site': 'same-origin' })).status,
      200,
    );
  });

  it('does not show a page of another site who is signed in', async () => {
    for (const said of combine(SITES, origins, referers)) {
      const { status, answer } = await send('GET', '/admin/session', { cookie, ...toHeaders(said) });
      assert.equal(status, 200);
      const { user, is_administrator, expires_at } = JSON.parse(answer);
      assert.deepEqual(
        [user?.email, is_administrator, typeof expires_at],
        counts(said) ? ['admin@example.com', true, 'string'] : [undefined, false, 'object'],
        JSON.stringify(said),
      );
    }
  });

  it('is set and removed only for pages of the service', async () => {
    const token = (await service.newAdministrator()).headers.authorization!.slice('Bearer '.length);
    for (const said of combine(SITES, origins, referers)) {
      const headers = { ...toHeaders(said), 'content-type': 'application/json' };
      const opened = await send('POST', '/admin/token', headers, JSON.stringify({ token }));
      assert.equal(opened.status, counts(said) ? 204 : 401, JSON.stringify(said));
      assert.equal(opened.headers['set-cookie'] !== undefined, counts(said));
      const closed = await send('POST', '/admin/logout', headers);
      assert.equal(closed.status, counts(said) ? 204 : 401, JSON.stringify(said));
      assert.equal(closed.headers['set-cookie'] !== undefined, counts(said));
    }
  });

  it('is not set for an HTML form: the body must be JSON', async () => {
    const headers = { 'sec-fetch-site': 'same-origin' };
    for (const type of [
      'application/x-www-form-urlencoded',
      'text/plain',
      'multipart/form-data; boundary=x',
    ]) {
      const { status } = await send('POST', '/admin/token', { ...headers, 'content-type': type }, 'token=x');
      assert.equal(status, 415);
    }
  });

  it('gets no CORS header on any endpoint, so no other origin can use it', async () => {
    const paths = ['/admin/session', '/admin/login', '/admin/callback', '/admin/picture', '/v1/admin/me'];
    for (const path of [
      ...paths,
      '/admin/token',
      '/admin/logout',
      '/admin/logout-everywhere',
      '/%61dmin/session',
      '/admin/nothing',
    ]) {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const headers = { cookie, origin: 'https://evil.example', 'access-control-request-method': 'POST' };
        const answered = await send(method, path, headers);
        const cors = Object.keys(answered.headers).filter((name) => name.startsWith('access-control-'));
        assert.deepEqual(cors, [], `${method} ${path}`);
      }
    }
  });
});
