// Sessions in a real Chromium: what it sends from our own pages, with and without Sec-Fetch headers, and from other sites.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchBrowser } from '../support/browser.ts';
import { startOidcProvider, type TestProvider } from '../support/oidc-provider.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Host names of this machine. A browser treats them as any remote host: without TLS it sends no Sec-Fetch headers. */
const OURS = 'events.example';
const THEIRS = 'evil.example';
const ADA = { sub: 'ada', email: 'ada@example.com', email_verified: true, picture: '/picture' };
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe('a session in a browser', { timeout: 120_000 }, () => {
  let browser: Browser;
  let provider: TestProvider;
  let service: TestService;
  let port: string;
  /** A server of another site, with an empty page. */
  const others = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Others</title>');
  });
  let othersPort: number;
  before(async () => {
    browser = await launchBrowser([OURS, THEIRS]);
    provider = await startOidcProvider({
      accounts: [ADA],
      picture: (response) => void response.writeHead(200, { 'content-type': 'image/png' }).end(PNG),
    });
    service = await startTestService({ ...provider.env, ADMIN_SUBJECTS: 'ada' });
    port = new URL(service.url).port;
    for (const host of ['127.0.0.1', OURS]) provider.addRedirectUri(`http://${host}:${port}/admin/callback`);
    others.listen(0, '127.0.0.1');
    await once(others, 'listening');
    othersPort = (others.address() as AddressInfo).port;
  });
  after(async () => {
    await browser.close();
    others.close();
    others.closeAllConnections();
    await service.close();
    await provider.close();
  });

  /** Signs in through the pages, as a person does. */
  async function signIn(host: string): Promise<{ context: BrowserContext; page: Page; own: string }> {
    const own = `http://${host}:${port}`;
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${own}/admin/login?return=/admin/audit`);
    await page.getByRole('button', { name: 'Sign in as ada' }).click();
    await page.waitForURL(`${own}/admin/audit`);
    // One of our own pages, which may load scripts and pictures from its host; independent of how the console looks.
    await page.goto(`${own}/docs`);
    return { context, page, own };
  }

  /** Cookies of the service only; the provider has some on the same host. */
  const cookiesOf = async (context: BrowserContext) =>
    (await context.cookies()).filter(({ name }) => name.includes('local_events'));

  interface Asking {
    readonly method?: string;
    readonly mode?: 'no-cors';
    readonly credentials?: 'include';
  }

  /** Sends a request from a page; returns the status, or that the page may not see it. */
  const ask = (page: Page, address: string, init: Asking = {}) =>
    page.evaluate(
      ([to, options]) =>
        fetch(to, options).then(
          async (answer) => `${answer.status} ${(await answer.text()).slice(0, 200)}`,
          () => 'refused',
        ),
      [address, init] as const,
    );

  const cases = {
    'with Sec-Fetch headers': '127.0.0.1',
    'without them, as on plain http of another host': OURS,
  };
  for (const [what, host] of Object.entries(cases)) {
    it(`is accepted from our own pages, ${what}`, async () => {
      const agent = await service.newAgent();
      const { event_id } = await agent.create();
      const { context, page } = await signIn(host);
      const sent = page.waitForRequest(/\/v1\/admin\/me$/);
      assert.match(await ask(page, '/v1/admin/me'), /^200 .*ada@example.com/);
      const headers = await (await sent).allHeaders();
      assert.equal(headers['sec-fetch-site'], host === OURS ? undefined : 'same-origin');
      assert.match(await ask(page, '/admin/session'), /^200 .*"is_administrator":true/);
      const size = await page.evaluate(`new Promise((resolve) => {
        const image = new Image();
        image.onload = () => resolve(image.naturalWidth);
        image.onerror = () => resolve('none');
        image.src = '/admin/picture';
      })`);
      assert.equal(size, 1, 'the picture is shown');
      assert.match(await ask(page, `/v1/admin/events/${event_id}`, { method: 'DELETE' }), /^204/);
      const [cookie, ...more] = await cookiesOf(context);
      assert.deepEqual(more, []);
      assert.deepEqual(
        [cookie?.name, cookie?.httpOnly, cookie?.sameSite],
        ['local_events_session', true, 'Lax'],
      );
      assert.equal(await page.evaluate('document.cookie'), '', 'no script can read it');
      assert.match(await ask(page, '/admin/logout', { method: 'POST' }), /^204/);
      assert.deepEqual(await cookiesOf(context), []);
      assert.match(await ask(page, '/v1/admin/me'), /^401/);
      await context.close();
    });

    it(`is not accepted from other origins, same-site or cross-site, ${what}`, async () => {
      const agent = await service.newAgent();
      const { event_id } = await agent.create();
      const { context, page, own } = await signIn(host);
      for (const from of [`http://${host}:${othersPort}`, `http://${THEIRS}:${othersPort}`]) {
        await page.goto(from);
        const secret = { credentials: 'include' } as const;
        assert.equal(await ask(page, `${own}/v1/admin/me`, secret), 'refused');
        assert.equal(await ask(page, `${own}/admin/session`, secret), 'refused');
        const deletion = { ...secret, method: 'DELETE' };
        assert.equal(await ask(page, `${own}/v1/admin/events/${event_id}`, deletion), 'refused');
        await ask(page, `${own}/admin/logout`, { ...secret, method: 'POST', mode: 'no-cors' });
        const loggedOut = page.waitForResponse(`${own}/admin/logout`);
        const form = `<form method="post" enctype="text/plain" action="${own}/admin/logout">`;
        await page.evaluate(`document.body.innerHTML = '${form}'`);
        await page.evaluate('setTimeout(() => document.forms[0].submit()); 0');
        assert.equal((await loggedOut).status(), 401);
        await page.waitForURL(`${own}/admin/logout`);
      }
      await page.goto(`${own}/docs`);
      assert.match(await ask(page, '/v1/admin/me'), /^200/, 'the session goes on');
      assert.equal((await agent.get(`/v1/events/${event_id}`)).status, 200, 'the event is there');
      await context.close();
    });
  }

  it('is not used for a URL that is typed or followed as a link', async () => {
    const { context, page, own } = await signIn('127.0.0.1');
    assert.equal((await page.goto(`${own}/v1/admin/me`))?.status(), 401);
    const session = await page.goto(`${own}/admin/session`);
    assert.match((await session?.text()) ?? '', /"user":null/);
    await context.close();
  });
});
