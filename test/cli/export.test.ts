// `export`: events as JSON lines that `import` reads back, with or without a running service.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { execute } from '../sqlite/files.ts';
import { type Client, newEvent } from '../support/client.ts';
import { runHere } from '../support/command.ts';
import { run } from '../support/process.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { importNew, interrupt, launchFed, refusalsOf, summaryOf } from './bulk.ts';

const FIELDS = [
  ...['title', 'description', 'start_at', 'end_at', 'timezone', 'location_name', 'address', 'lat', 'lng'],
  ...['url', 'cost', 'audience', 'event_type'],
];

/** The lines of an export, parsed and sorted. */
function parse(text: string): Record<string, unknown>[] {
  assert.ok(text === '' || text.endsWith('\n'));
  const events = text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return events.sort((a, b) => (String(a.title) < String(b.title) ? -1 : 1));
}

/** Events of every kind. */
const EVENTS = [
  newEvent({
    title: 'a all fields',
    description: 'd',
    end_at: '2031-05-02T00:00:00.123Z',
    address: 'a',
    url: 'u',
    cost: 'c',
    audience: 'kids',
  }),
  newEvent({ title: 'b nulls', description: null, end_at: null, address: null, url: null, cost: null }),
  newEvent({ title: 'c left out' }),
  newEvent({ title: 'd local time', start_at: '2031-07-01T18:00:00', timezone: 'Asia/Tokyo' }),
  newEvent({
    title: 'e began long ago',
    start_at: '0001-01-01T00:00:00Z',
    end_at: '9999-12-31T23:59:59.999Z',
  }),
  newEvent({ title: 'f places', lat: -90, lng: 179.99999999999997 }),
  newEvent({ title: 'g small', lat: 5e-324, lng: -0 }),
  newEvent({ title: ' h "quoted" \\ \t\r\n\u2028\u2029\u0001\u007f', description: '' }),
  newEvent({
    title: 'i ünï — 漢字 — שלום — e\u0301 — 👩‍👩‍👧',
    location_name: '\ufeff',
    description: '😀'.repeat(10_000),
  }),
  newEvent({ title: 'j called off', status: 'cancelled' }),
];

describe('export', () => {
  let service: TestService;
  let publisher: Client;
  let agentId: string;
  let env: Record<string, string>;
  before(async () => {
    service = await startTestService();
    publisher = await service.newAgent();
    for (const event of EVENTS) agentId = (await publisher.create(event)).agent_id;
    await (await service.newAgent()).create({ title: "another agent's" });
    env = { DATA_DIR: service.folder };
  });
  after(() => service.close());

  it('writes every event to standard output, while the service runs', async () => {
    const { code, stdout, stderr } = await run(['export'], env);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^done in \d+\.\d s: 11 exported\n$/);
    const events = parse(stdout);
    assert.equal(events.length, EVENTS.length + 1);
    for (const event of events)
      assert.deepEqual(Object.keys(event), event.title === 'j called off' ? [...FIELDS, 'status'] : FIELDS);
    assert.equal((await service.client.get('/health')).status, 200);
  });

  it('exports the events of an agent with the same fields after they are imported elsewhere', async () => {
    const first = await runHere(['export', '--agent', agentId.toUpperCase()], env);
    const events = parse(first.stdout);
    const elsewhere = { DATA_DIR: join(temporaryFolder(), 'data') };
    const imported = await importNew(first.stdout, elsewhere);
    assert.equal(imported.code, 0, imported.stderr);
    const second = await runHere(['export'], elsewhere);
    assert.deepEqual(parse(second.stdout), events);
    assert.equal(events.find(({ title }) => title === 'j called off')!.status, 'cancelled');

    const stored = (await publisher.nearby({ limit: 100, status: 'any' })).body.events as Record<
      string,
      unknown
    >[];
    const wanted = stored
      .filter((event) => event.agent_id === agentId)
      .map((event) => FIELDS.map((name) => event[name]));
    assert.equal(wanted.length, EVENTS.length);
    const found = new Set(events.map((event) => JSON.stringify(FIELDS.map((name) => event[name]))));
    assert.deepEqual(found, new Set(wanted.map((values) => JSON.stringify(values))));
  });

  it('replaces a file once it is complete, and leaves nothing else', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'out.ndjson');
    writeFileSync(file, 'what was there before');
    const { code, stdout, stderr } = await runHere(['export', '--agent', agentId, '--out', file], env);
    assert.deepEqual([code, stdout], [0, ''], stderr);
    assert.equal(parse(readFileSync(file, 'utf8')).length, EVENTS.length);
    assert.deepEqual(readdirSync(folder), ['out.ndjson']);
  });

  it('says so when the file cannot be written, and does not change an existing one', async () => {
    const folder = temporaryFolder();
    const missing = await runHere(['export', '--out', join(folder, 'no', 'out.ndjson')], env);
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /out\.ndjson cannot be written: /);
    const onto = await runHere(['export', '--out', folder], env);
    assert.equal(onto.code, 1);
    assert.match(onto.stderr, /^The export failed: /);
    assert.ok(existsSync(folder));
    assert.deepEqual(
      readdirSync(join(folder, '..')).filter((name) => name.endsWith('.part')),
      [],
    );
  });

  it('refuses an agent that does not exist', async () => {
    const unknown = '0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90';
    const { code, stdout, stderr } = await runHere(['export', '--agent', unknown], env);
    assert.deepEqual(
      { code, stdout, stderr },
      { code: 1, stdout: '', stderr: `No agent has the ID ${unknown}. Check --agent.\n` },
    );
  });

  it('refuses a folder without data, and creates none', async () => {
    const folder = join(temporaryFolder(), 'data');
    const { code, stderr } = await runHere(['export'], { DATA_DIR: folder });
    assert.equal(code, 1);
    assert.equal(stderr, `There is no data in ${folder}. Set DATA_DIR to the folder of the service.\n`);
    assert.ok(!existsSync(folder));
  });
});

describe('an exported event that has ended', () => {
  it('is refused by import with its line and reason, and only if it has an end_at', async () => {
    const service = await startTestService();
    const client = await service.newAgent();
    await client.create({ title: 'ended', start_at: '2020-01-01T00:00:00Z', end_at: '2031-05-01T18:00:00Z' });
    await client.create({ title: 'ended without an end_at', start_at: '2020-01-01T00:00:00Z' });
    await client.create({ title: 'not ended' });
    await service.close();
    // Simulates the passing of time: no client can create an ended event.
    execute(
      join(service.folder, 'local-events.db'),
      `UPDATE events SET json = json_set(json, '$.end_at', json_extract(json, '$.start_at')) WHERE title = 'ended'`,
    );
    const { stdout } = await runHere(['export'], { DATA_DIR: service.folder });
    assert.equal(parse(stdout).length, 3);
    const ended = await importNew(stdout, { DATA_DIR: join(temporaryFolder(), 'data') });
    assert.equal(ended.code, 1);
    assert.deepEqual(refusalsOf(ended), [[1, 'end_at: must lie in the future']]);
    assert.deepEqual(summaryOf(ended), { end: 'done', read: 3, imported: 2, existing: 0, refused: 1 });
  });
});

describe('an export of many events', () => {
  const COUNT = 20_000;
  let env: Record<string, string>;
  before(async () => {
    env = { DATA_DIR: join(temporaryFolder(), 'data') };
    const lines = Array.from({ length: COUNT }, (_, at) =>
      JSON.stringify(newEvent({ title: `${at}`, description: 'x'.repeat(300) })),
    );
    assert.equal(summaryOf(await importNew(lines.join('\n'), env)).imported, COUNT);
  });

  it('has each event once', async () => {
    const { stdout } = await runHere(['export'], env);
    assert.equal(new Set(parse(stdout).map((event) => event.title)).size, COUNT);
  });

  it('waits for a slow reader, and stops on SIGINT', async () => {
    const { child, ended } = launchFed(['export'], env);
    child.stdout.pause();
    await new Promise((resolve) => child.stdout.once('readable', resolve));
    child.kill('SIGINT');
    child.stdout.resume();
    const { code, stderr } = await ended;
    assert.equal(code, 130);
    assert.match(stderr, /^stopped in \d+\.\d s: \d+ exported\n$/);
    assert.ok(Number(/: (\d+) exported/.exec(stderr)![1]) < COUNT);
  });

  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    it(`leaves an existing file unchanged when ${signal} stops it, and no partial one`, async () => {
      const folder = temporaryFolder();
      const file = join(folder, 'out.ndjson');
      writeFileSync(file, 'what was there before');
      const stopped = await interrupt(['export', '--out', file], env, { folder, signal });
      assert.deepEqual([stopped.code, stopped.signal], [code, null], stopped.stderr);
      assert.match(stopped.stderr, /^stopped in \d+\.\d s: \d+ exported\n$/);
      assert.deepEqual(readdirSync(folder), ['out.ndjson']);
      assert.equal(readFileSync(file, 'utf8'), 'what was there before');
    });
  }

  it('ends with a message if its reader stops', async () => {
    const { child, ended } = launchFed(['export'], env);
    await new Promise((resolve) => child.stdout.once('readable', resolve));
    child.stdout.destroy();
    const { code, stderr } = await ended;
    assert.equal(code, 1);
    assert.equal(stderr, 'The export failed: write EPIPE\n');
  });
});
