// The files of the console: which are served at which URL, with which headers, and which never are.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it, type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import { bareServer, listen } from '../support/bare-server.ts';
import { type Answer, assertError, Client } from '../support/client.ts';
import { RawConnection, request } from '../support/raw-http.ts';
import { temporaryFolder, useTestService } from '../support/service.ts';

const POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self'",
  'connect-src': "'self'",
  'font-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'self'",
  'frame-ancestors': "'none'",
  'require-trusted-types-for': "'script'",
  'trusted-types': "'none'",
};

function assertPageHeaders({ headers }: Answer, path: string): void {
  const policy = headers
    .get('content-security-policy')!
    .split('; ')
    .map((part) => part.split(' '));
  assert.deepEqual(Object.fromEntries(policy), POLICY, path);
  assert.equal(headers.get('referrer-policy'), 'same-origin');
  assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin');
  assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin');
  assert.equal(headers.get('x-frame-options'), 'DENY');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.match(headers.get('permissions-policy')!, /geolocation=\(\)/);
}

describe('the console', () => {
  const service = useTestService();
  let page: Answer;
  /** URLs that the page loads. */
  let assets: string[];
  before(async () => {
    page = await service.client.get('/admin');
    assets = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)]
      .map((match) => match[1]!)
      .filter((address) => address !== '/docs');
  });

  const addresses = [
    '/admin',
    '/admin/',
    '/admin/audit',
    '/admin/agents/x',
    '/admin/a/b/c',
    '/admin?q=1',
    '/admin/assets',
    // Invalid if they were read as the pattern of a route.
    '/admin/*x',
    '/admin/%2Ax',
    '/admin/:a(',
    '/admin/:a([)',
    '/admin/:a((b+)+)',
  ];

  it('is the same page at every URL, with strict security headers, and is revalidated each time', async () => {
    for (const path of addresses) {
      const answer = await service.client.get(path);
      assert.equal(answer.status, 200, path);
      assert.equal(answer.text, page.text, path);
      assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
      assert.equal(answer.headers.get('cache-control'), 'no-cache');
      assertPageHeaders(answer, path);
    }
  });

  it('responds 304 to a matching ETag, also when a proxy has made it weak', async () => {
    const etag = page.headers.get('etag')!;
    assert.match(etag, /^"[\w-]{43}"$/);
    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`]) {
      const answer = await service.client.with({ 'if-none-match': tag }).get('/admin/audit');
      assert.equal(answer.status, 304, tag);
      assert.equal(answer.text, '');
      assertPageHeaders(answer, tag);
    }
    for (const tag of ['"x"', etag.slice(1, -1), '']) {
      const answer = await service.client.with({ 'if-none-match': tag }).get('/admin');
      assert.equal(answer.status, 200, tag);
    }
  });

  it('has no inline code or styles and loads nothing from other hosts', () => {
    assert.doesNotMatch(page.text, /<style|\sstyle=|\son\w+=|javascript:|https?:|\/\//i);
    for (const [, attributes, content] of page.text.matchAll(/<script([^>]*)>(.*?)<\/script>/gs)) {
      assert.match(attributes!, / src="\/admin\/assets\//);
      assert.equal(content, '');
    }
    assert.ok(assets.length >= 3);
    for (const address of assets) assert.match(address, /^\/admin\/assets\/[\w-]+-[\w-]{8}\.(?:js|css|svg)$/);
  });

  it('serves its files as immutable, with their content type', async () => {
    const types: Record<string, string> = {
      js: 'text/javascript; charset=utf-8',
      css: 'text/css; charset=utf-8',
      svg: 'image/svg+xml',
    };
    for (const address of assets) {
      const answer = await service.client.get(address);
      assert.equal(answer.status, 200, address);
      assert.equal(answer.headers.get('content-type'), types[address.split('.').at(-1)!]);
      assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable');
      assertPageHeaders(answer, address);
    }
    assert.deepEqual(
      Object.keys(types).sort(),
      [...new Set(assets.map((name) => name.split('.').at(-1)!))].sort(),
    );
  });

  it('is small: at most 44 KB compressed', async () => {
    const contents = await Promise.all(
      assets.map(async (address) => (await service.client.get(address)).text),
    );
    const bytes = contents.reduce((sum, text) => sum + gzipSync(text).length, 0);
    assert.ok(bytes > 10_000 && bytes < 45_056, `${bytes} bytes`);
  });

  it('responds to HEAD as to GET, without the body', async () => {
    for (const path of ['/admin', '/admin/audit', ...assets]) {
      const [get, head] = [await service.client.get(path), await service.client.send('HEAD', path)];
      assert.equal(head.status, 200, path);
      assert.equal(head.text, '');
      for (const name of [
        'content-length',
        'content-type',
        'etag',
        'cache-control',
        'content-security-policy',
      ]) {
        assert.equal(head.headers.get(name), get.headers.get(name), `${path} ${name}`);
      }
    }
  });

  it('refuses other methods and is not opened to other origins', async () => {
    for (const path of ['/admin', '/admin/audit', assets[0]!]) {
      const posted = await service.client.post(path, {});
      assertError(posted, 405, 'METHOD_NOT_ALLOWED');
      assert.equal(posted.headers.get('allow'), 'GET, HEAD');
      const other = await service.client.with({ origin: 'https://other.example' }).get(path);
      assert.equal(other.headers.get('access-control-allow-origin'), null);
      assert.equal((await service.client.send('OPTIONS', path)).status, 405);
    }
  });

  it('serves no other files, whatever the spelling of a path out of the folder', async () => {
    const connection = await RawConnection.open(service.url);
    const ways = [
      '..',
      '%2e%2e',
      '.%2e',
      '..%2f..',
      '%2e%2e%2f%2e%2e',
      '..%5c..',
      '%252e%252e',
      '....//',
      '/',
      '',
    ];
    const names = [
      'index.html',
      '.sources',
      'package.json',
      '../../package.json',
      '../../../etc/passwd',
      '%00',
      'constructor',
      '__proto__',
    ];
    for (const way of ways) {
      for (const name of names) {
        connection.write(request('GET', `/admin/assets/${way}/${name}`));
        const answer = await connection.next();
        assert.equal(answer?.status, 404, `${way}/${name}`);
        assert.equal(answer?.body.error.code, 'NOT_FOUND');
      }
    }
    connection.destroy();
    for (const name of names)
      assertError(await service.client.get(`/admin/assets/${encodeURIComponent(name)}`), 404, 'NOT_FOUND');
  });

  it('logs the pattern of the route and no ID', async () => {
    await service.client.get('/admin/agents/0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90?q=secret');
    const line = service.log.at(-1)!;
    assert.equal(line.route, '/admin/*');
    assert.doesNotMatch(JSON.stringify(line), /0197d2e8|secret/);
  });
});

describe('a console that is not built', () => {
  const half = temporaryFolder();
  mkdirSync(join(half, 'assets'));
  writeFileSync(join(half, 'assets', 'index-12345678.js'), 'alert(1)');

  for (const [what, folder] of [
    ['without a folder', undefined],
    ['in a missing folder', join(half, 'nothing')],
    ['in a folder without the page', half],
  ] as const) {
    it(`says what to do, ${what}`, async (test) => {
      const client = await serve(test, folder);
      for (const path of ['/admin', '/admin/audit']) {
        const answer = await client.get(path);
        assert.equal(answer.status, 503);
        assert.match(answer.text, /<code>npm run build:web<\/code>/);
        assert.doesNotMatch(answer.text, /<script|<style|\sstyle=/);
        assert.equal(answer.headers.get('cache-control'), 'no-store');
        assertPageHeaders(answer, path);
      }
      assertError(await client.get('/admin/assets/index-12345678.js'), 404, 'NOT_FOUND');
    });
  }
});

describe('a route below /admin that is not a page', () => {
  it('allows only its own method, even if pages allow others', async (test) => {
    const client = await serve(test, undefined);
    for (const [method, path, allowed] of [
      ['GET', '/admin/logout', 'POST'],
      ['GET', '/admin/logout-everywhere', 'POST'],
      ['HEAD', '/admin/token', 'POST'],
      ['HEAD', '/admin/session', 'GET'],
      ['HEAD', '/admin/login', 'GET'],
      ['HEAD', '/admin/callback', 'GET'],
      ['HEAD', '/admin/picture', 'GET'],
    ] as const) {
      const answer = await client.send(method, path);
      assert.equal(answer.status, 405, path);
      assert.equal(answer.headers.get('allow'), allowed);
    }
    assertError(await client.get('/admin/logout'), 405, 'METHOD_NOT_ALLOWED');
    assert.equal((await client.get('/admin/logout/now')).status, 503, 'a page');
    assert.equal((await client.get('/admin/*')).status, 503, 'a page');
  });
});

async function serve(test: TestContext, consoleFolder: string | undefined): Promise<Client> {
  const app = bareServer({
    ...(consoleFolder !== undefined && { consoleFolder }),
  });
  test.after(() => app.close());
  return new Client(await listen(app));
}
