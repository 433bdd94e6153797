// `import`: JSON lines become events of one agent; refused lines are named by number, and nothing is imported twice.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { newEvent } from '../support/client.ts';
import { runHere } from '../support/command.ts';
import { run } from '../support/process.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { countsIn, fileOf, importNew, NEW_AGENT, refusalsOf, runFed, summaryOf, toLines } from './bulk.ts';

const newFolder = () => join(temporaryFolder(), 'data');
const bodies = (count: number) => Array.from({ length: count }, () => newEvent());

describe('import', () => {
  it('creates an agent, prints its key once and nothing else, and the key works with the service', async () => {
    const folder = newFolder();
    const events = [newEvent({ start_at: '2031-05-01T18:00:00', timezone: 'Europe/Berlin' }), ...bodies(2)];
    const ended = await importNew(toLines(events), { DATA_DIR: folder });
    assert.equal(ended.code, 0);
    assert.ok(!ended.stderr.includes(ended.key));
    assert.deepEqual(summaryOf(ended), { end: 'done', read: 3, imported: 3, existing: 0, refused: 0 });

    const service = await startTestService({ DATA_DIR: folder });
    const client = service.client.with({ 'x-api-key': ended.key });
    const { body } = await client.nearby({ lat: 52.52, lng: 13.405, radius: 1 });
    assert.equal(body.total, 3);
    assert.deepEqual(
      body.events.map((event: { title: string }) => event.title).sort(),
      events.map((event) => event.title).sort(),
    );
    assert.equal(body.events[0].start_at, '2031-05-01T16:00:00.000Z');
    assert.equal((await client.create()).agent_id, body.events[0].agent_id);
    const { agents } = (await (await service.newAdministrator()).get('/v1/admin/agents')).body;
    assert.deepEqual(
      agents.map(({ email, agent_name, tier, event_count }: Record<string, unknown>) => [
        email,
        agent_name,
        tier,
        event_count,
      ]),
      [['import@example.com', 'Importer', 'readwrite', 4]],
    );
    await service.close();
  });

  it('names each refused line with its number and every reason, and imports the others', async () => {
    const folder = newFolder();
    const content = Buffer.concat([
      Buffer.from(toLines([newEvent()])),
      Buffer.from('{"title": \n'),
      Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d, 0x0a]),
      Buffer.from(toLines([newEvent({ description: 'x'.repeat(1_048_576) })])),
      Buffer.from('[]\nnull\n"text"\n'),
      Buffer.from(
        toLines([newEvent({ title: '', lat: '52' }), newEvent({ end_at: '2020-01-01T00:00:00Z' })]),
      ),
      Buffer.from(
        toLines([newEvent({ title: 7, url: 7, cost: 7, address: 7, location_name: 7, timezone: 7 })]),
      ),
      Buffer.from(toLines([newEvent()])),
    ]);
    const ended = await importNew(content, { DATA_DIR: folder });
    assert.equal(ended.code, 1);
    assert.deepEqual(refusalsOf(ended), [
      [2, 'must be valid JSON'],
      [3, 'must be valid UTF-8'],
      [4, 'must not be longer than 1 MiB'],
      [5, 'must be a JSON object'],
      [6, 'must be a JSON object'],
      [7, 'must be a JSON object'],
      [8, 'title: must have at least 1 character; lat: must be a number, not string'],
      [9, 'end_at: must lie in the future'],
      [
        10,
        ['title', 'timezone', 'location_name', 'address', 'url', 'cost']
          .map((name) => `${name}: must be a string, not number`)
          .join('; '),
      ],
    ]);
    assert.deepEqual(summaryOf(ended), { end: 'done', read: 11, imported: 2, existing: 0, refused: 9 });
    assert.deepEqual(countsIn(folder), { events: 2, counted: 2 });
  });

  it('skips events that are already in the store or on an earlier line', async () => {
    const folder = newFolder();
    const events = bodies(3);
    const again = { ...events[0], description: 'the first one stays' };
    const first = await importNew(toLines([...events, again]), { DATA_DIR: folder });
    assert.deepEqual(summaryOf(first), { end: 'done', read: 4, imported: 3, existing: 1, refused: 0 });
    assert.equal(first.code, 0);

    const file = fileOf(toLines([...events, newEvent()]));
    const second = await runHere(['import', file, '--key-stdin'], { DATA_DIR: folder }, `${first.key}\n`);
    assert.deepEqual([second.code, second.stdout], [0, '']);
    assert.ok(!second.stderr.includes(first.key));
    assert.deepEqual(summaryOf(second), { end: 'done', read: 4, imported: 1, existing: 3, refused: 0 });
    assert.deepEqual(countsIn(folder), { events: 4, counted: 4 });
  });

  it('recognises an event that was created over HTTP', async () => {
    const service = await startTestService();
    const registration = { email: 'agent@example.com', agent_name: 'agent' };
    const { api_key } = (await service.client.post('/v1/auth/register', registration)).body;
    const event = newEvent();
    await service.client.with({ 'x-api-key': api_key }).create(event);
    await service.close();
    const ended = await runHere(
      ['import', fileOf(toLines([event])), '--key-stdin'],
      { DATA_DIR: service.folder },
      api_key,
    );
    assert.deepEqual(summaryOf(ended), { end: 'done', read: 1, imported: 0, existing: 1, refused: 0 });
  });

  it('reads an empty file', async () => {
    const ended = await importNew('', { DATA_DIR: newFolder() });
    assert.equal(ended.code, 0);
    assert.deepEqual(summaryOf(ended), { end: 'done', read: 0, imported: 0, existing: 0, refused: 0 });
  });

  it('reads blank lines, CRLF, a byte order mark, long lines and a last line without an end', async () => {
    const folder = newFolder();
    const long = Array.from({ length: 100 }, () => newEvent({ description: 'ü€😀'.repeat(3_000) }));
    const content = `\ufeff\n \t\n${toLines(bodies(2))}\n${toLines([...long, ...bodies(1)]).replaceAll('\n', '\r\n')}\r\n`;
    const ended = await importNew(content + toLines(bodies(1)).trimEnd(), { DATA_DIR: folder });
    assert.equal(ended.code, 0, ended.stderr);
    assert.deepEqual(summaryOf(ended), { end: 'done', read: 104, imported: 104, existing: 0, refused: 0 });
    assert.equal(countsIn(folder).events, 104);
  });

  it('reads standard input, and counts blank lines when it names one', async () => {
    const folder = newFolder();
    const ended = await runFed(
      ['import', '-', ...NEW_AGENT],
      { DATA_DIR: folder },
      `\n${toLines(bodies(2))}\n{}`,
    );
    assert.equal(ended.code, 1);
    assert.deepEqual(
      refusalsOf(ended).map(([line]) => line),
      [5],
    );
    assert.deepEqual(summaryOf(ended), { end: 'done', read: 3, imported: 2, existing: 0, refused: 1 });
  });

  it('stops adding at MAX_EVENTS_PER_AGENT, and still recognises existing events', async () => {
    const env = { DATA_DIR: newFolder(), MAX_EVENTS_PER_AGENT: '3' };
    const events = bodies(5);
    const ended = await importNew(toLines([...events, events[1]!]), env);
    assert.equal(ended.code, 1);
    assert.deepEqual(refusalsOf(ended), [
      [4, 'the agent has reached its limit of 3 events (MAX_EVENTS_PER_AGENT)'],
      [5, 'the agent has reached its limit of 3 events (MAX_EVENTS_PER_AGENT)'],
    ]);
    assert.deepEqual(summaryOf(ended), { end: 'done', read: 6, imported: 3, existing: 1, refused: 2 });
    assert.deepEqual(countsIn(env.DATA_DIR), { events: 3, counted: 3 });
  });

  it('creates agents that may write, even if registered ones may only read', async () => {
    const env = { DATA_DIR: newFolder(), REGISTRATION_TIER: 'read' };
    const { key } = await importNew(toLines(bodies(1)), env);
    const again = await runHere(['import', fileOf(toLines(bodies(1))), '--key-stdin'], env, `${key}\n`);
    assert.equal(summaryOf(again).imported, 1);
  });

  it('refuses a folder that a service has locked, and adds nothing', async () => {
    const folder = newFolder();
    const service = await startTestService({ DATA_DIR: folder });
    const ended = await run(['import', fileOf(toLines(bodies(1))), ...NEW_AGENT], { DATA_DIR: folder });
    assert.deepEqual([ended.code, ended.stdout], [1, '']);
    assert.match(ended.stderr, /in use by another local-events process/);
    assert.deepEqual(countsIn(folder), { events: 0, counted: 0 });
    assert.equal((await service.client.get('/health')).status, 200);
    await service.close();
  });
});

describe('import --key-file', () => {
  it('writes the key to a new file that only its owner can read, and prints nothing', async (test) => {
    const before = process.umask(0);
    test.after(() => process.umask(before));
    const [folder, keyFile] = [newFolder(), join(temporaryFolder(), 'key.txt')];
    const args = ['import', fileOf(toLines(bodies(2))), ...NEW_AGENT, '--key-file', keyFile];
    const ended = await runHere(args, { DATA_DIR: folder });
    assert.deepEqual([ended.code, ended.stdout], [0, ''], ended.stderr);
    assert.equal(statSync(keyFile).mode & 0o777, 0o600);
    const key = readFileSync(keyFile, 'utf8');
    assert.match(key, /^lev_[0-9A-Za-z]{38}\n$/);
    assert.ok(!ended.stderr.includes(key.trim()));
    const again = await runHere(
      ['import', fileOf(toLines(bodies(1))), '--key-stdin'],
      { DATA_DIR: folder },
      key,
    );
    assert.equal(summaryOf(again).imported, 1);
    assert.deepEqual(countsIn(folder), { events: 3, counted: 3 });
  });

  it('never overwrites a file, and creates nothing then', async () => {
    const [folder, keyFile] = [newFolder(), fileOf('another key')];
    const args = ['import', fileOf(toLines(bodies(1))), ...NEW_AGENT, '--key-file', keyFile];
    const { code, stderr } = await runHere(args, { DATA_DIR: folder });
    assert.equal(code, 1);
    assert.match(stderr, /already exists\. Choose another name/);
    assert.equal(readFileSync(keyFile, 'utf8'), 'another key');
    assert.ok(!existsSync(folder));
    const elsewhere = [...args.slice(0, -1), join(newFolder(), 'key.txt')];
    assert.match((await runHere(elsewhere, { DATA_DIR: folder })).stderr, /key file .* cannot be written/);
    assert.ok(!existsSync(folder));
  });

  it('leaves no file if there is no agent', async (test) => {
    const service = await startTestService({}, { until: test });
    const keyFile = join(temporaryFolder(), 'key.txt');
    const args = ['import', fileOf(toLines(bodies(1))), ...NEW_AGENT, '--key-file', keyFile];
    assert.equal((await run(args, { DATA_DIR: service.folder })).code, 1);
    assert.ok(!existsSync(keyFile));
  });
});

describe('import refuses', () => {
  const keys: [name: string, input: string, message: RegExp][] = [
    ['a key with a typing error', 'lev_nonsense\n', /not an API key of this service/],
    ['a key of no agent', 'lev_HgmHrnywPwace445wyD86XG8SYoBgsS80Fc3aZ\n', /not active/],
  ];
  for (const [name, input, message] of keys) {
    it(name, async () => {
      const ended = await runHere(['import', fileOf(''), '--key-stdin'], { DATA_DIR: newFolder() }, input);
      assert.deepEqual([ended.code, ended.stdout], [1, '']);
      assert.match(ended.stderr, message);
    });
  }

  it('the keys of agents that are inactive or may only read', async () => {
    const service = await startTestService();
    const administrator = await service.newAdministrator();
    const register = async (change: object) => {
      const registration = { email: 'agent@example.com', agent_name: 'agent' };
      const { api_key } = (await service.client.post('/v1/auth/register', registration)).body;
      const id = (await administrator.get('/v1/admin/agents')).body.agents.at(-1).id;
      assert.equal((await administrator.patch(`/v1/admin/agents/${id}`, change)).status, 200);
      return api_key as string;
    };
    const [inactive, reader] = [await register({ is_active: false }), await register({ tier: 'read' })];
    await service.close();
    for (const [key, message] of [
      [inactive, /not active/],
      [reader, /needs the readwrite tier/],
    ] as const) {
      const ended = await runHere(['import', fileOf(''), '--key-stdin'], { DATA_DIR: service.folder }, key);
      assert.equal(ended.code, 1);
      assert.match(ended.stderr, message);
    }
  });

  for (const name of ['missing.ndjson', 'folder']) {
    it(`a file that cannot be read: ${name}`, async () => {
      const [folder, parent] = [newFolder(), temporaryFolder()];
      mkdirSync(join(parent, 'folder'));
      const ended = await runHere(['import', join(parent, name), ...NEW_AGENT], { DATA_DIR: folder });
      assert.deepEqual([ended.code, ended.stdout], [1, '']);
      assert.match(ended.stderr, new RegExp(`${name} cannot be read: `));
      assert.ok(!existsSync(folder), 'nothing was made');
    });
  }
});
