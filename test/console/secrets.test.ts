// No token reaches a script, a URL, a store of the browser or another host, and other sites cannot use the session.
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Request } from 'playwright-core';
import { type ConsoleUnderTest, openConsole, type Visit } from './console.ts';

/** A JWT or a JWE. */
const TOKEN = /eyJ[\w-]+\.[\w-]*\.[\w-]+/;

describe('secrets of the console', () => {
  let console: ConsoleUnderTest;
  let visit: Visit;
  const requests: Request[] = [];
  /** Headers and body of each response to a script. */
  const answers: Promise<string>[] = [];

  before(async () => {
    console = await openConsole('sqlite');
    await console.service.client.register('City guide');
    visit = await console.visit('/admin');
    visit.page.on('request', (request) => requests.push(request));
    visit.page.on('response', (response) => {
      if (response.request().resourceType() !== 'fetch') return;
      answers.push(response.text().then((text) => JSON.stringify([response.headers(), text])));
    });
    await visit.signIn();
    await visit.page.getByRole('link', { name: 'City guide' }).click();
    await visit.page.getByText('This agent has no events.').waitFor();
    await visit.page.getByRole('button', { name: /theme|colour/i }).click();
  });
  after(() => console.close());

  it('are in no store that a script can read', async () => {
    const stores = await visit.page.evaluate(`JSON.stringify([document.cookie.includes('local_events'),
      { ...localStorage }, { ...sessionStorage }, history.state, location.href, document.referrer])`);
    assert.doesNotMatch(stores as string, TOKEN);
    const [cookie, kept, ofSession] = JSON.parse(stores as string);
    assert.equal(cookie, false);
    assert.deepEqual(Object.keys(kept), ['theme']);
    assert.deepEqual(ofSession, {});
  });

  it('are only in the cookie, which no script and no other site gets', async () => {
    const cookies = (await visit.context.cookies()).filter(({ name }) => name.includes('local_events'));
    assert.deepEqual(
      cookies.map(({ name, httpOnly, sameSite, path }) => ({ name, httpOnly, sameSite, path })),
      [{ name: 'local_events_session', httpOnly: true, sameSite: 'Lax', path: '/' }],
    );
  });

  it('are in no URL and no referrer', async () => {
    const { url } = console.service;
    const ours = requests.filter((request) => request.url().startsWith(url));
    assert.ok(ours.some((request) => request.url().includes('/admin/callback?')));
    for (const request of requests) {
      assert.doesNotMatch(request.url(), TOKEN);
      assert.doesNotMatch((await request.allHeaders()).referer ?? '', /code=|state=|eyJ/);
      if (!request.url().startsWith(url)) {
        assert.doesNotMatch((await request.allHeaders()).referer ?? '', new RegExp(`^${url}`));
      }
    }
    assert.equal(await visit.page.evaluate('document.referrer.includes("code=")'), false);
  });

  it('are in no response that a script can read', async () => {
    assert.ok(answers.length > 3);
    for (const answer of answers) assert.doesNotMatch(await answer, TOKEN);
  });

  it('are in no line of the log', () => {
    assert.ok(console.service.log.some(({ route }) => route === '/admin/callback'));
    const log = JSON.stringify(console.service.log);
    assert.doesNotMatch(log, TOKEN);
    assert.doesNotMatch(log, /code=|state=|nonce/);
  });

  describe('from a page of another site', () => {
    let site: Server;
    let siteUrl: string;
    before(async () => {
      site = createServer((_request, response) =>
        response
          .writeHead(200, { 'content-type': 'text/html' })
          .end('<!doctype html><title>Another site</title>'),
      );
      await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
      // Another name of this machine is another site to a browser.
      siteUrl = `http://localhost:${(site.address() as AddressInfo).port}`;
    });
    after(() => void site.close());

    it('cannot be used to change or to read anything', async () => {
      const { agents } = (await console.administrator.get('/v1/admin/agents')).body;
      const page = await visit.context.newPage();
      await page.goto(siteUrl);
      const attempt = (method: string, path: string, mode: string) =>
        page.evaluate(
          `fetch(${JSON.stringify(console.service.url + path)}, { method: '${method}', mode: '${mode}', credentials: 'include' })
            .then((answer) => answer.text(), (error) => 'failed: ' + error.message)`,
        );
      const path = `/v1/admin/agents/${agents[0].id}`;
      assert.match((await attempt('DELETE', path, 'cors')) as string, /^failed/);
      assert.match((await attempt('GET', '/v1/admin/agents', 'cors')) as string, /^failed/);
      assert.match((await attempt('POST', '/admin/logout', 'no-cors')) as string, /^failed/);
      await page.setContent(
        `<form method="post" action="${console.service.url}/admin/logout"><button>Go</button></form>`,
      );
      await page.getByRole('button', { name: 'Go' }).click();
      await page.waitForURL(/\/admin\/logout$/);
      await page.close();
      assert.equal((await console.administrator.get('/v1/admin/agents')).body.total, 1);
      await visit.page.reload();
      await visit.page.getByText('This agent has no events.').waitFor(); // still signed in
    });

    it('cannot be shown in a frame', async () => {
      const page = await visit.context.newPage();
      await page.goto(siteUrl);
      await page.setContent(`<iframe src="${console.service.url}/admin"></iframe>`);
      const frame = page.frames()[1]!;
      await frame.waitForLoadState().catch(() => {});
      assert.equal(await frame.locator('main').count(), 0);
      await page.close();
    });
  });
});
