// A data folder that is damaged before the start, or taken away while the service runs.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SqliteStore } from '../../src/sqlite/store.ts';
import { assertError, newEvent } from '../support/client.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';

const DATABASE = 'local-events.db';

async function until(condition: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + 10_000;
  while (!(await condition())) {
    assert.ok(performance.now() < endMs, 'it did not happen within 10 seconds');
    await sleep(50);
  }
}

describe('a start is refused, and changes nothing,', () => {
  const assertRefused = async (files: Record<string, string>, message: RegExp) => {
    const folder = temporaryFolder();
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    await assert.rejects(SqliteStore.open({ folder, cacheBytes: 0 }), { name: 'StartError', message });
    for (const [name, content] of Object.entries(files))
      assert.equal(readFileSync(join(folder, name), 'utf8'), content);
    if (!(DATABASE in files)) assert.ok(!existsSync(join(folder, DATABASE)));
  };

  it('if the database beside a write-ahead log is missing', () =>
    assertRefused(
      { [`${DATABASE}-wal`]: 'writes' },
      /has local-events\.db-wal.* is missing or empty\. Copy/,
    ));

  it('if the database beside a write-ahead log is empty', () =>
    assertRefused({ [DATABASE]: '', [`${DATABASE}-wal`]: 'writes' }, /is missing or empty/));

  it('if a restore was not completed', () =>
    assertRefused({ [`${DATABASE}.restoring`]: 'half' }, /was not completed\. Run "restore" again/));
});

describe('a data folder that is taken away while the service runs', () => {
  const cases: Record<string, { take(folder: string): void; giveBack?(folder: string): void }> = {
    renamed: {
      take: (folder) => renameSync(folder, `${folder}-away`),
      giveBack: (folder) => renameSync(`${folder}-away`, folder),
    },
    deleted: { take: (folder) => rmSync(folder, { recursive: true }) },
    'without its lock': { take: (folder) => rmSync(join(folder, 'lock.db')) },
    'with another database': {
      take: (folder) => {
        renameSync(join(folder, DATABASE), join(folder, 'old.db'));
        writeFileSync(join(folder, DATABASE), '');
      },
      giveBack: (folder) => renameSync(join(folder, 'old.db'), join(folder, DATABASE)),
    },
  };
  for (const [name, { take, giveBack }] of Object.entries(cases)) {
    it(`makes writes and health fail: ${name}`, async (t) => {
      const service = await startTestService();
      t.after(() => service.close().catch(() => {}));
      const agent = await service.newAgent();
      const { event_id } = await agent.create();
      take(service.folder);
      await until(async () => (await service.client.get('/health')).status === 503);
      const refused = await agent.post('/v1/events', newEvent({ title: 'Lost' }));
      assertError(refused, 503, 'UNAVAILABLE');
      assert.match(
        refused.body.error.message,
        /^The data folder of the service was deleted, renamed or replaced/,
      );
      assert.equal((await agent.get(`/v1/events/${event_id}`)).status, 200);
      if (!giveBack) return;
      giveBack(service.folder);
      await until(async () => (await service.client.get('/health')).status === 200);
      assert.equal((await agent.post('/v1/events', newEvent({ title: 'Kept' }))).status, 200);
    });
  }
});
