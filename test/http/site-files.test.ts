// What browsers and crawlers ask every site for, and what a browser gets at a URL that does not exist.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertClean, closeBrowser, getBrowser, visit } from '../console/console.ts';
import { findOverflow, findViolations } from '../support/page-checks.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { assertPlainError } from './plain-error.ts';

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(async () => {
  await closeBrowser();
  await service.close();
});

describe('/favicon.ico', () => {
  it('is an icon that browsers can show, and may be kept for a day', async () => {
    const response = await fetch(`${service.url}/favicon.ico`);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'image/x-icon');
    assert.equal(response.headers.get('cache-control'), 'public, max-age=86400');
    assert.deepEqual([...new Uint8Array(await response.arrayBuffer()).slice(0, 4)], [0, 0, 1, 0]);
    const { page, context } = await visit(await getBrowser(), service.url, '/docs');
    const width = await page.evaluate(`new Promise((resolve) => {
      const image = new Image();
      image.onload = () => resolve(image.naturalWidth);
      image.onerror = () => resolve('none');
      image.src = '/favicon.ico';
    })`);
    assert.equal(width, 48);
    await context.close();
  });
});

describe('/robots.txt', () => {
  it('lets everybody read all but the console', async () => {
    const { status, headers, text } = await service.client.get('/robots.txt');
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'text/plain; charset=utf-8');
    const rules = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    assert.deepEqual(rules, ['User-agent: *', 'Disallow: /admin']);
  });
});

describe('a URL that does not exist', () => {
  const URLS = ['/nothing', '/docs/nothing.js', '/docs/', '/v10/nothing', '/%zz', '/admin/assets/x.js'];

  it('is a page for browsers, with the status 404 and the policy of our pages', async () => {
    const front = await service.client.with(BROWSER).get('/');
    for (const url of URLS) {
      const { status, headers, text } = await service.client.with(BROWSER).get(url);
      assert.equal(status, 404, url);
      assert.equal(headers.get('content-type'), 'text/html; charset=utf-8', url);
      assert.equal(headers.get('cache-control'), 'no-store', url);
      for (const name of ['content-security-policy', 'referrer-policy', 'cross-origin-opener-policy']) {
        assert.equal(headers.get(name), front.headers.get(name), `${url}: ${name}`);
      }
      assert.match(text, /<h1>There is nothing at this URL<\/h1>/, url);
      const head = await service.client.with(BROWSER).send('HEAD', url);
      assert.deepEqual([head.status, head.text], [404, ''], url);
      assert.equal(head.headers.get('content-length'), headers.get('content-length'), url);
    }
  });

  it('is JSON for other clients, and for other methods', async () => {
    for (const accept of ['*/*', 'application/json', 'text/html;q=0.5, application/json']) {
      for (const url of URLS) {
        assertPlainError(await service.client.with({ accept }).get(url), 404, 'NOT_FOUND');
      }
    }
    assertPlainError(await service.client.with(BROWSER).post('/nothing', {}), 404, 'NOT_FOUND');
  });

  it('is JSON in a browser, too, below /.well-known', async () => {
    for (const name of [
      '',
      '/',
      '/nothing',
      '/oauth-authorization-server',
      '/openid-configuration',
      '/%zz',
      '?x',
    ]) {
      const url = `/.well-known${name}`;
      assertPlainError(await service.client.with(BROWSER).get(url), 404, 'NOT_FOUND');
    }
    const page = await service.client.with(BROWSER).get('/.well-known-not/nothing');
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
  });

  it('is JSON in a browser, too, below /v1: unknown paths, and events that do not exist', async () => {
    const agent = await service.newAgent();
    for (const url of ['/v1', '/v1/', '/v1/nothing?x', '/v1/%zz'])
      assertPlainError(await agent.with(BROWSER).get(url), 404, 'NOT_FOUND');
    const missing = await agent.with(BROWSER).get('/v1/events/01JZ9GX4T0QW3N1V8R5Y7K2MHD');
    assert.equal(missing.status, 404);
    assert.equal(missing.body.error.code, 'NOT_FOUND');
    const refused = await service.client.with(BROWSER).send('DELETE', '/docs');
    assertPlainError(refused, 405, 'METHOD_NOT_ALLOWED');
  });

  it('leads on from there: no violation of axe-core, light and dark, and it fits on 320 pixels', async () => {
    const visitor = await visit(await getBrowser(), service.url, '/no/such/page');
    await visitor.page.getByRole('main').getByRole('link', { name: 'API docs' }).click();
    await visitor.page.waitForURL(`${service.url}/docs`);
    assertClean(visitor);
    await visitor.context.close();
    for (const colorScheme of ['light', 'dark'] as const) {
      const options = { viewport: { width: 320, height: 700 }, bypassCSP: true, colorScheme };
      const { page, context } = await visit(await getBrowser(), service.url, '/no/such/page', options);
      assert.deepEqual(await findViolations(page), [], colorScheme);
      assert.ok((await findOverflow(page)) <= 0);
      await context.close();
    }
  });
});
