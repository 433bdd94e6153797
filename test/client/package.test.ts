// The packed client, installed in an empty folder: its size, plain JavaScript in Node 20 and 26 and in a page of another origin in
// Chromium, and TypeScript with strict.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { before, describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { ROOT } from '../docs/readme.ts';
import { launchBrowser } from '../support/browser.ts';
import { run } from '../support/npm.ts';
import { useTestService } from '../support/service.ts';
import { type Fault, type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts';
import { findNode20, installClient, packClient } from './package.ts';

const MAX_BYTES = 5_000;
const AGENT = { email: 'agent@example.com', agent_name: 'test agent' };
const TSC = join(ROOT, 'node_modules/.bin/tsc');
const STRICT = ['--strict', '--exactOptionalPropertyTypes', '--noEmit', '--target', 'es2022'];
const BROWSER_TYPES = ['--module', 'nodenext', '--lib', 'es2022,dom,dom.iterable', '--types', ''];
const STORY = join(ROOT, 'test/client/runtime-story.js');

/** What an application that uses the whole client loads for it. */
async function bundle(folder: string): Promise<string> {
  writeFileSync(join(folder, 'all.js'), "export * from 'local-events-client';");
  const built = await build({
    root: folder,
    configFile: false,
    logLevel: 'warn',
    build: { write: false, minify: true, lib: { entry: 'all.js', formats: ['es'] } },
  });
  const [{ output }] = built as { output: { code: string }[] }[] as [{ output: { code: string }[] }];
  assert.equal(output.length, 1);
  return output[0]!.code;
}

const CORS = { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'Retry-After' };
const refusal = (status: number): Fault => ({ status, headers: { ...CORS, 'retry-after': '0' } });

/** The service behind a proxy that refuses and loses what the story sends first. */
async function startStory(t: TestContext, url: string): Promise<FaultyProxy> {
  const [register, create] = [refusal(429), 'lose the response'] as const;
  return startFaultyProxy(t, url, [register, undefined, create, refusal(503)]);
}

const EXPECTED = {
  tier: 'readwrite',
  warning: 'timezone_mismatch',
  replayed: 'true',
  cost: 'no EUR',
  etag: '"3"',
  unchanged: true,
  pages: [['Lantern workshop', 'Second'], ['Third']],
  features: 2,
  place: 'Mitte, Berlin, DE; 52.52003,13.40489',
  calendar: 'BEGIN:VCALENDAR',
  invalid: [true, 'VALIDATION_ERROR', 422, ['body', 'title'], 'string'],
  aborted: true,
  nowhere: 'NETWORK_ERROR',
  revoked: 'INVALID_API_KEY',
  leaks: false,
};

describe('the package of the client', { timeout: 300_000 }, () => {
  const service = useTestService();
  let folder: string;
  before(async () => {
    folder = await installClient(await packClient());
    cpSync(STORY, join(folder, 'runtime-story.js'));
  });

  it('has JavaScript, types, a page and a licence, and no dependencies', () => {
    const installed = join(folder, 'node_modules/local-events-client');
    const names = ['error', 'local-events', 'request', 'types'];
    assert.deepEqual(readdirSync(installed).sort(), ['LICENSE', 'README.md', 'dist', 'package.json']);
    assert.deepEqual(
      readdirSync(join(installed, 'dist')).sort(),
      names.flatMap((name) => [`${name}.d.ts`, `${name}.js`]),
    );
    const { dependencies, engines } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    assert.deepEqual([dependencies, engines], [undefined, { node: '>=20' }]);
    assert.deepEqual(
      readdirSync(join(folder, 'node_modules')).filter((name) => !name.startsWith('.')),
      ['local-events-client'],
    );
  });

  it(`has at most ${MAX_BYTES} bytes, minified and gzipped`, async () => {
    const bytes = gzipSync(await bundle(folder)).length;
    assert.ok(bytes > 1_000 && bytes <= MAX_BYTES, `${bytes} bytes`);
  });

  for (const [version, find] of Object.entries({ 20: findNode20, 26: async () => process.execPath })) {
    it(`works in Node ${version}`, async (t) => {
      const { url, requests } = await startStory(t, service.url);
      const program = `import { run } from './runtime-story.js';
        console.log(JSON.stringify([process.version, await run(process.argv[2], process.argv[3])]));`;
      writeFileSync(join(folder, 'program.js'), program);
      const { stdout } = await promisify(execFile)(await find(), ['program.js', url, `node${version}`], {
        cwd: folder,
      });
      const [used, seen] = JSON.parse(stdout);
      assert.equal(used.split('.')[0], `v${version}`);
      assert.deepEqual(seen, EXPECTED);
      assert.deepEqual(
        requests.slice(0, 5).map(({ path }) => path),
        ['/v1/auth/register', '/v1/auth/register', '/v1/events', '/v1/events', '/v1/events'],
      );
    });
  }

  it('works in a page of another origin in Chromium, without a build', async (t) => {
    const imports = { 'local-events-client': '/node_modules/local-events-client/dist/local-events.js' };
    const pages = createServer(({ url = '/' }, response) => {
      const isPage = url === '/';
      response.setHeader('content-type', isPage ? 'text/html' : 'text/javascript');
      const page = `<!doctype html><title>Page</title><script type="importmap">${JSON.stringify({ imports })}</script>`;
      response.end(isPage ? page : readFileSync(join(folder, url)));
    });
    pages.listen(0, '127.0.0.1');
    await once(pages, 'listening');
    const browser = await launchBrowser();
    t.after(async () => {
      await browser.close();
      pages.closeAllConnections();
      pages.close();
    });
    const page = await browser.newPage();
    await page.goto(`http://localhost:${(pages.address() as AddressInfo).port}/`);
    const { url } = await startStory(t, service.url);
    const story = `import('/runtime-story.js').then(({ run }) => run(${JSON.stringify(url)}, 'chromium'))`;
    assert.deepEqual(await page.evaluate(story), EXPECTED);
  });

  it('runs the programs of docs/clients.md and of its own page, which compile with strict', async () => {
    const { api_key: key } = (await service.client.post('/v1/auth/register', AGENT)).body;
    await service.client.with({ 'x-api-key': key }).create();
    const [page = ''] = readFileSync(join(ROOT, 'docs/clients.md'), 'utf8').split('\n## Generated clients\n');
    const texts = [page, readFileSync(join(ROOT, 'client/README.md'), 'utf8')].join('\n');
    const programs = [...texts.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, text], at) => {
      const ours = text!.replaceAll('http://127.0.0.1:8080', service.url).replaceAll('lev_…', key);
      writeFileSync(join(folder, `sample-${at}.ts`), ours);
      return `sample-${at}.ts`;
    });
    assert.equal(programs.length, 3);
    await run(TSC, [...BROWSER_TYPES, ...STRICT, ...programs], folder);
    const printed = [];
    for (const program of programs) printed.push(await run(process.execPath, [program], folder));
    assert.match(printed[0]!, /^created (\w{26})\n(.*\n)*\1 2031-05-01T18:00:00\+02:00 Lantern workshop$/m);
    assert.match(printed[1]!, /^body\.lat must be 90 or less\n"\d" .*Bring scissors\.$/m);
    assert.match(printed[2]!, /^2031-05-01T16:00:00\.000Z Lantern workshop$/m);
  });

  it('runs the script of examples/, with a new key', async () => {
    const now = Date.now();
    await (await service.newAgent()).create({
      ...{ title: 'Festival week', location_name: 'Tempelhof', lat: 52.48, lng: 13.4, cost: '5 EUR' },
      start_at: new Date(now - 3_600_000).toISOString(),
      end_at: new Date(now + 8 * 86_400_000).toISOString(),
    });
    cpSync(join(ROOT, 'examples/script.ts'), join(folder, 'script.ts'));
    const runScript = (url: string, place: string) => {
      const env = { ...process.env, LOCAL_EVENTS_URL: url, LOCAL_EVENTS_API_KEY: '' };
      return promisify(execFile)(process.execPath, ['script.ts', place], { cwd: folder, env });
    };
    const { stdout, stderr } = await runScript(service.url, 'Kreuzberg, Berlin');
    assert.match(stdout, /^Kreuzberg, Berlin, DE; /);
    assert.match(stdout, /^\d{4}-\d\d-\d\dT[\d:.+]+ {2}Festival week at Tempelhof, \d\.\d miles, 5 EUR$/m);
    assert.match(stderr, /LOCAL_EVENTS_API_KEY=lev_\w+$/m);
    assert.match((await runScript(service.url, 'Tokyo')).stdout, /^Tokyo, .*\nNothing is on\.\n$/);
    await assert.rejects(runScript(service.url, 'Springfield'), /VALIDATION_ERROR: .*\nIs it "Springfield, /);
  });

  it('has types for strict TypeScript, with the types of browsers or of Node', async () => {
    const program = `
      import { LocalEvents, LocalEventsError, headersOf, type EventCreate, type SearchNearbyQuery } from 'local-events-client';
      export async function all(query: SearchNearbyQuery, body: EventCreate, signal: AbortSignal): Promise<string[]> {
        const client = new LocalEvents({ baseUrl: 'https://events.example.org', apiKey: 'lev_', fetch });
        const titles: string[] = [];
        for await (const page of client.searchPages(query, { signal })) titles.push(...page.events.map(({ title }) => title));
        const calendar: string = await client.searchNearby({ ...query, format: 'ics' });
        const places = (await client.searchNearby({ ...query, format: 'geojson' })).features[0]!.geometry.coordinates;
        const { events } = await client.searchNearby(query);
        try {
          const event = await client.createEvent(body);
          await client.updateEvent(event.event_id, { cost: null }, { ifMatch: event });
          const known = await client.getEvent(event.event_id, {}, { ifNoneMatch: event });
          // @ts-expect-error: undefined if it is unchanged
          known.title;
          // @ts-expect-error: no such field
          await client.updateEvent(event.event_id, { price: 5 });
          // @ts-expect-error: no such type
          await client.searchNearby({ ...query, event_type: ['concert'] });
          // @ts-expect-error: the key of a client cannot be read
          client.apiKey;
        } catch (error) {
          if (!(error instanceof LocalEventsError)) throw error;
          const requestId: string | undefined = error.requestId ?? headersOf(error).get('x-request-id') ?? undefined;
          if (error.code === 'VALIDATION_ERROR') return error.detail.map(({ loc, msg }) => \`\${loc.join('.')}: \${msg}\`);
          const none: undefined = error.detail;
          if (error.code === 'NETWORK_ERROR') return [String(none satisfies undefined), error.status satisfies undefined ?? ''];
          if (error.code === 'NOT_FOUND') return [String(error.status satisfies 404)];
          // @ts-expect-error: no such code
          if (error.code === 'NO_EVENT') return [];
          return [error.message, requestId ?? ''];
        }
        return [...titles, calendar, String(places), ...events.map(({ event_id }) => event_id)];
      }`;
    writeFileSync(join(folder, 'program.ts'), program);
    for (const environment of [
      BROWSER_TYPES,
      ['--module', 'preserve', '--moduleResolution', 'bundler', '--lib', 'es2022,dom', '--types', ''],
      [
        '--module',
        'nodenext',
        '--lib',
        'es2022',
        '--types',
        'node',
        '--typeRoots',
        join(ROOT, 'node_modules/@types'),
        '--skipLibCheck',
      ],
    ])
      await run(TSC, [...environment, ...STRICT, 'program.ts'], folder);
  });
});
