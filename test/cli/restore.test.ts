// `restore`: a backup becomes the data of an empty folder, and of no other; an interrupted restore can be repeated.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { databasePath } from '../../src/sqlite/files/data-folder.ts';
import { makeBackup, makeData } from '../sqlite/data.ts';
import { assertSound } from '../sqlite/files.ts';
import { runHere } from '../support/command.ts';
import { run } from '../support/process.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { size } from '../support/sizes.ts';
import { countsIn, interrupt } from './bulk.ts';

async function assertRestores(file: string, folder: string, events: number): Promise<void> {
  const { code, stdout, stderr } = await runHere(['restore', file], { DATA_DIR: folder });
  assert.deepEqual([code, stdout], [0, ''], stderr);
  assertSound(databasePath(folder));
  assert.deepEqual(countsIn(folder), { events, counted: events });
}

describe('restore', () => {
  it('creates a folder that serves the same events to the same keys and administrators', async (test) => {
    const first = await startTestService();
    let closed: Promise<void> | undefined;
    const close = () => (closed ??= first.close());
    test.after(close);
    const agent = await first.newAgent();
    const event = await agent.create();
    const administrator = await first.newAdministrator();
    const file = join(temporaryFolder(), 'copy.db');
    assert.equal((await runHere(['backup', file], { DATA_DIR: first.folder })).code, 0);
    await agent.create(); // too late for the backup
    await close();

    const folder = join(temporaryFolder(), 'a', 'data');
    const { code, stdout, stderr } = await run(['restore', file], { DATA_DIR: folder });
    assert.deepEqual([code, stdout], [0, ''], stderr);
    assert.match(stderr, /^done in \d+\.\d s: .* holds 1 events and 1 agents, newest event created /);
    assert.ok(
      stderr.endsWith(
        ` s: ${folder} holds 1 events and 1 agents, newest event created ${event.created_at}\n`,
      ),
      stderr,
    );
    assert.deepEqual(
      ['', ...readdirSync(folder)].map((name) => (statSync(join(folder, name)).mode & 0o777).toString(8)),
      ['700', '600', '600'],
    );

    await startTestService({ DATA_DIR: folder, PORT: new URL(first.url).port }, { until: test });
    const { events, total } = (await agent.nearby()).body;
    assert.deepEqual([events, total], [[event], 1]);
    assert.equal((await administrator.get('/v1/admin/agents')).body.agents[0].id, event.agent_id);
    await agent.create();
  });

  it('accepts a folder that is empty except for files of the file system', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'lost+found'));
    writeFileSync(join(folder, '.hidden'), '');
    await assertRestores(await makeBackup(), folder, 3);
  });

  it('accepts the database file of a running service, with its write-ahead log', async (test) => {
    const service = await startTestService({}, { until: test });
    await (await service.newAgent()).create();
    assert.ok(existsSync(`${databasePath(service.folder)}-wal`));
    await assertRestores(databasePath(service.folder), join(temporaryFolder(), 'data'), 1);
  });

  it('refuses a folder that holds data, and does not change it', async () => {
    const folder = await makeData({ events: 2 });
    const { code, stdout, stderr } = await runHere(['restore', await makeBackup()], { DATA_DIR: folder });
    assert.deepEqual([code, stdout], [1, ''], stderr);
    assert.match(stderr, /^The data folder .* is not empty: .* Set DATA_DIR to a folder that is empty .*\n$/);
    assert.deepEqual(countsIn(folder), { events: 2, counted: 2 });
  });
});

describe('a restore of a large database', () => {
  let file: string;
  before(async () => {
    file = await makeBackup({ megabytes: 60 });
  });

  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    it(`leaves a folder that counts as empty when ${signal} stops it`, async () => {
      const folder = temporaryFolder();
      const stopped = await interrupt(['restore', file], { DATA_DIR: folder }, { folder, signal });
      assert.deepEqual([stopped.code, stopped.signal], [code, null], stopped.stderr);
      assert.match(stopped.stderr, /^stopped in \d+\.\d s: nothing was written\n$/);
      assert.deepEqual(readdirSync(folder).sort(), ['local-events.db', 'lock.db']);
      assert.equal(statSync(databasePath(folder)).size, 0);
      await assertRestores(file, folder, 3);
    });
  }

  for (const delayMs of size([0, 100], [0, 50, 100, 200, 400])) {
    it(`is complete or can be repeated after kill -9, ${delayMs} ms after it began`, async (test) => {
      const folder = temporaryFolder();
      const delay = () => sleep(delayMs);
      const env = { DATA_DIR: folder };
      await interrupt(['restore', file], env, { folder, signal: 'SIGKILL', delay });
      const isComplete = statSync(databasePath(folder)).size > 0;
      test.diagnostic(isComplete ? 'it was complete' : `it had ${readdirSync(folder).join(', ')}`);
      assert.ok(delayMs > 0 || !isComplete);
      if (!isComplete) return assertRestores(file, folder, 3);
      assertSound(databasePath(folder));
      assert.deepEqual(countsIn(folder), { events: 3, counted: 3 });
    });
  }
});
