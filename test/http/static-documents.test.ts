// Documents that never change: encodings, ETags, HEAD, and one buffer for all clients. Responses are read as raw bytes,
// because fetch would decode them.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request as send } from 'node:http';
import { before, describe, it } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { fileUrl } from '../../src/http/browser/page-files.ts';
import { acceptedEncoding, StaticDocuments } from '../../src/http/response/static-document.ts';
import { bareServer, listen } from '../support/bare-server.ts';
import { startTestService, useTestService } from '../support/service.ts';

/** The documents of at least 1 KB; the console's script and style are added by `before`. */
const FILES = [
  'docs.js',
  'docs.css',
  'samples.js',
  'operations.js',
  'contents.js',
  'front.js',
  'front.css',
  'guide.css',
  'key.js',
  'theme.js',
];
const LARGE = ['/openapi.json', '/docs', '/llms.txt', '/for-agents', '/SKILL.md', ...FILES.map(fileUrl)];
const SMALL = [fileUrl('icon.svg'), '/admin', '/admin/audit'];

const DECODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
};

interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
}

/** Sends a request on a connection of its own. */
async function read(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<RawAnswer> {
  const sent = send(url, { method, headers, agent: false });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode!, headers: response.headers, bytes: Buffer.concat(chunks) };
}

/** Headers of the document, not of the connection or the request. */
function lasting(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { date: _date, connection: _connection, 'x-request-id': _id, ...others } = headers;
  return others;
}

describe('a document that never changes', () => {
  const service = useTestService({ PUBLIC_URL: 'https://events.example.org' });
  const large = [...LARGE];
  const get = (path: string, headers?: Record<string, string>) => read(service.url + path, headers);
  const head = (path: string, headers?: Record<string, string>) => read(service.url + path, headers, 'HEAD');

  before(async () => {
    const { text } = await service.client.get('/admin');
    const files = [...text.matchAll(/"(\/admin\/assets\/[^"]+\.(?:js|css))"/g)].map((match) => match[1]!);
    assert.equal(files.length, 2);
    large.push(...files);
  });

  it('is sent as it is without Accept-Encoding', async () => {
    for (const path of [...large, ...SMALL]) {
      const { status, headers, bytes } = await get(path);
      assert.equal(status, 200, path);
      assert.equal(headers['content-encoding'], undefined, path);
      assert.equal(headers['content-length'], String(bytes.length), path);
      assert.match(headers.etag!, /^"[\w-]{43}"$/, path);
    }
    assert.equal((await get('/docs')).bytes.toString().slice(0, 15), '<!doctype html>');
    assert.match(JSON.parse((await get('/openapi.json')).bytes.toString()).openapi, /^3\.1\./);
  });

  for (const encoding of ['br', 'gzip']) {
    it(`has the same content in ${encoding}, in less than half the bytes`, async () => {
      for (const path of large) {
        const plain = await get(path);
        const { status, headers, bytes } = await get(path, { 'accept-encoding': encoding });
        assert.equal(status, 200, path);
        assert.equal(headers['content-encoding'], encoding, path);
        assert.equal(headers['content-length'], String(bytes.length), path);
        assert.ok(bytes.length < plain.bytes.length / 2, `${path}: ${bytes.length} bytes`);
        assert.ok(DECODERS[encoding]!(bytes).equals(plain.bytes), path);
        assert.equal(headers.vary, 'Accept-Encoding', path);
        assert.equal(plain.headers.vary, 'Accept-Encoding', path);
        const differing = { 'content-encoding': encoding, 'content-length': String(bytes.length) };
        const expected = { ...lasting(plain.headers), ...differing, etag: headers.etag };
        assert.deepEqual(lasting(headers), expected, path);
      }
    });
  }

  it('is not encoded if it has less than 1 KB', async () => {
    for (const path of SMALL) {
      const [plain, asked] = [await get(path), await get(path, { 'accept-encoding': 'br, gzip' })];
      assert.ok(plain.bytes.length < 1_024, path);
      assert.equal(plain.headers.vary, undefined, path);
      assert.deepEqual(lasting(asked.headers), lasting(plain.headers), path);
      assert.ok(asked.bytes.equals(plain.bytes), path);
    }
  });

  it('has an ETag per encoding, and responds 304 to it', async () => {
    for (const path of [...large, ...SMALL]) {
      const tags = new Map<string, string>();
      for (const encoding of ['identity', 'br', 'gzip']) {
        const accept = { 'accept-encoding': encoding };
        const full = await get(path, accept);
        const etag = full.headers.etag!;
        assert.equal((await get(path, accept)).headers.etag, etag, path);
        tags.set(encoding, etag);
        // A 304 has all headers of the 200, except those that describe the body.
        const { 'content-type': _, 'content-length': __, 'content-encoding': ___, ...kept } = full.headers;
        for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
          for (const known of [
            await get(path, { ...accept, 'if-none-match': tag }),
            await head(path, { ...accept, 'if-none-match': tag }),
          ]) {
            assert.equal(known.status, 304, `${path} ${encoding} ${tag}`);
            assert.equal(known.bytes.length, 0);
            assert.deepEqual(lasting(known.headers), lasting(kept), path);
          }
        }
        for (const tag of ['"x"', etag.slice(1, -1), '']) {
          assert.equal((await get(path, { ...accept, 'if-none-match': tag })).status, 200, tag);
        }
      }
      const [identity, br, gzip] = [...tags.values()];
      assert.equal(new Set(tags.values()).size, large.includes(path) ? 3 : 1, path);
      if (!large.includes(path)) continue;
      for (const [encoding, other] of [
        ['br', identity!],
        ['gzip', br!],
        ['identity', gzip!],
      ] as const) {
        const answer = await get(path, { 'accept-encoding': encoding, 'if-none-match': other });
        assert.equal(answer.status, 200, `${path} ${encoding}`);
      }
    }
  });

  it('is kept by browsers: files with a hash for ever, others until they change', async () => {
    for (const path of [...large, ...SMALL]) {
      const caching = (await get(path)).headers['cache-control'];
      const isHashed = /\/(?:assets|docs)\//.test(path);
      const isGuide = path === '/llms.txt' || path === '/for-agents';
      const expected = isHashed ? 'public, max-age=31536000, immutable' : 'no-cache';
      assert.equal(caching, isGuide ? 'public, max-age=300' : expected, path);
    }
  });

  it('has another name when its content changes', () => {
    for (const name of FILES) assert.match(fileUrl(name), /^\/docs\/[a-z-]+-[\w-]{12}\.(?:js|css)$/);
    assert.equal(new Set(FILES.map(fileUrl)).size, FILES.length);
  });

  it('responds to HEAD as to GET, without the body', async () => {
    for (const path of [...large, ...SMALL]) {
      for (const headers of [{}, { 'accept-encoding': 'br' }, { 'accept-encoding': 'gzip' }]) {
        const [known, asked] = [await get(path, headers), await head(path, headers)];
        assert.equal(asked.status, 200, path);
        assert.equal(asked.bytes.length, 0, path);
        assert.deepEqual(lasting(asked.headers), lasting(known.headers), path);
      }
    }
  });

  it('keeps its ETags when the service restarts', async (test) => {
    const restarted = await startTestService({ PUBLIC_URL: 'https://events.example.org' }, { until: test });
    for (const path of [...large, ...SMALL]) {
      for (const headers of [{}, { 'accept-encoding': 'br' }, { 'accept-encoding': 'gzip' }]) {
        const { etag } = (await get(path, headers)).headers;
        const revalidated = await read(restarted.url + path, { ...headers, 'if-none-match': etag! });
        assert.equal(revalidated.status, 304, path);
      }
    }
  });

  it('varies by Origin, too, where the response depends on it', async (test) => {
    const strict = await startTestService({ CORS_ORIGINS: 'https://calendar.example' }, { until: test });
    const origin = 'https://calendar.example';
    const full = await read(`${strict.url}/openapi.json`, { origin, 'accept-encoding': 'gzip' });
    const known = await read(`${strict.url}/openapi.json`, {
      origin,
      'accept-encoding': 'gzip',
      'if-none-match': full.headers.etag!,
    });
    assert.deepEqual([full.status, known.status], [200, 304]);
    for (const { headers } of [full, known]) {
      assert.equal(headers.vary, 'Origin, Accept-Encoding');
      assert.equal(headers['access-control-allow-origin'], origin);
    }
  });
});

describe('the buffer of a document', () => {
  it('is one per encoding for all clients, from the first requests on', async (test) => {
    const app = bareServer();
    const sent = new Map<string, Set<unknown>>();
    app.addHook('onSend', (request, _reply, payload, done) => {
      assert.ok(payload instanceof Uint8Array);
      const key = `${request.url} ${request.headers['accept-encoding']}`;
      sent.set(key, (sent.get(key) ?? new Set()).add(payload));
      done();
    });
    test.after(() => app.close());
    const url = await listen(app);
    for (const path of ['/openapi.json', fileUrl('operations.js'), '/docs']) {
      for (const encoding of ['identity', 'br', 'gzip']) {
        const asked = Array.from({ length: 20 }, () => read(url + path, { 'accept-encoding': encoding }));
        const answers = await Promise.all(asked);
        assert.equal(new Set(answers.map(({ headers }) => headers.etag)).size, 1, `${path} ${encoding}`);
      }
    }
    assert.deepEqual(
      [...sent].map(([key, payloads]) => [key, payloads.size]),
      [...sent.keys()].map((key) => [key, 1]),
    );
    assert.equal(sent.size, 9);
  });
});

describe('documents that are prepared', () => {
  it('are compressed before they are requested, also those that depend on the URL', async (test) => {
    const documents = new StaticDocuments();
    const app = bareServer({
      context: { clock: Date.now, policy: { tierLimits: {} } },
      documents,
    });
    test.after(() => app.close());
    await documents.prepare();
    // What is ready is sent within one turn of the event loop; compression runs on other threads and takes longer.
    for (const path of [
      '/',
      '/docs',
      '/openapi.json',
      '/llms.txt',
      '/for-agents',
      fileUrl('operations.js'),
    ]) {
      const { promise, resolve } = Promise.withResolvers<string>();
      app.inject({ path, headers: { accept: 'text/html', 'accept-encoding': 'br' } }, (_error, response) =>
        resolve(String(response?.headers['content-encoding'])),
      );
      for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
      assert.equal(await Promise.race([promise, 'late']), 'br', path);
    }
  });
});

describe('Accept-Encoding', () => {
  const CASES: readonly (readonly [string | undefined, ReturnType<typeof acceptedEncoding>])[] = [
    [undefined, 'identity'],
    ['', 'identity'],
    ['identity', 'identity'],
    ['deflate', 'identity'],
    ['zstd, deflate', 'identity'],
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate', 'gzip'],
    ['gzip;q=1.0, br;q=0.9', 'gzip'],
    ['gzip ; q = 0.5 , br;Q=0.4', 'gzip'],
    ['br;q=0.001', 'br'],
    ['gzip;q=0', 'identity'],
    ['gzip;q=0.000', 'identity'],
    ['br;q=0, gzip', 'gzip'],
    ['gzip;q=0, br;q=0', 'identity'],
    ['*', 'br'],
    ['*;q=0.5', 'br'],
    ['*;q=0', 'identity'],
    ['br;q=0, *', 'gzip'],
    ['br;q=0, gzip;q=0, *', 'identity'],
    ['gzip, *;q=0', 'gzip'],
    ['gzip;q=0.5, *;q=0.1', 'gzip'],
    ['br;q=0.2, gzip;q=0.2, *;q=0.9', 'identity'],
    ['identity, gzip;q=0.5', 'identity'],
    ['identity;q=0.5, gzip', 'gzip'],
    ['identity, gzip', 'gzip'],
    ['identity;q=0', 'identity'],
    ['identity;q=0, gzip;q=0.1', 'gzip'],
    ['gzip;q=2', 'identity'],
    ['gzip;q=x, br;q=-1', 'identity'],
    ['gzip;level=9;q=0', 'identity'],
    ['brotli', 'identity'],
    ['"gzip", ;;, ,q=1', 'identity'],
  ];
  for (const [header, encoding] of CASES) {
    it(`${JSON.stringify(header)} gets ${encoding}`, () => assert.equal(acceptedEncoding(header), encoding));
  }
});
