// The store when its environment misbehaves: rows that vanish, a disk that is full for a while.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SqliteStore } from '../../src/sqlite/store.ts';
import { WriterClient } from '../../src/sqlite/threads/writer-client.ts';
import { addAgent, addEvent, NOW_MS, search } from '../store/rows.ts';
import { temporaryFolder } from '../support/service.ts';
import { execute } from './files.ts';

describe('the SQLite store', () => {
  it('fails a search whose rows another program removed, instead of searching for ever', async () => {
    const folder = temporaryFolder();
    const store = await SqliteStore.open({ folder, cacheBytes: 0 });
    const { agent } = await addAgent(store);
    await addEvent(store, agent);
    execute(`${folder}/local-events.db`, 'DELETE FROM events');
    await assert.rejects(store.nearby(search(), NOW_MS), { code: 'UNAVAILABLE' });
    await store.close();
  });
});

describe('the writer', () => {
  it('counts as failing from a failed commit until the next successful one', async () => {
    const path = `${temporaryFolder()}/test.db`;
    const writer = await WriterClient.start(path);
    const write = () => writer.run('probe', [], () => {});
    await write();
    assert.equal(writer.isFailing, false);
    execute(path, "CREATE TRIGGER full BEFORE INSERT ON settings BEGIN SELECT raise(ROLLBACK, 'full'); END");
    await assert.rejects(write());
    await writer.run('ping', [], () => {});
    assert.equal(writer.isFailing, true, 'a ping writes nothing and proves nothing');
    execute(path, 'DROP TRIGGER full');
    await write();
    assert.equal(writer.isFailing, false);
    await writer.close();
  });
});
