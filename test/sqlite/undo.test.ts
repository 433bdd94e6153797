// Undo in the embedded engine while the rows of a delete are still being moved: restarts, bulk work, backups, and creates meanwhile.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { EventRow } from '../../src/domain/events/event.ts';
import { backUp, restore } from '../../src/sqlite/files/backup.ts';
import { SqliteBulkWriter } from '../../src/sqlite/files/bulk.ts';
import { databasePath } from '../../src/sqlite/files/data-folder.ts';
import { SqliteStore } from '../../src/sqlite/store.ts';
import { deletionOf, restoreAll } from '../store/contract-undo.ts';
import {
  assertEvents,
  eventsOf,
  findAgent,
  HOUR_MS,
  NOW_MS,
  newAgentRow,
  newEventRow,
  newKey,
  newUlid,
} from '../store/rows.ts';
import { temporaryFolder } from '../support/service.ts';
import { UNWATCHED } from './data.ts';
import { assertSound, readRows } from './files.ts';

/** Events of an agent: their rows are moved in several slices. */
const MANY = 4_500;

const open = (folder: string) => SqliteStore.open({ folder, cacheBytes: 0 });

/** A store with an agent whose events were deleted a moment ago. */
async function deleteMany(withAgent: boolean) {
  const folder = temporaryFolder();
  const writer = await SqliteBulkWriter.open(folder);
  const [agent, key] = [newAgentRow(), newKey()];
  await writer.addAgent(agent, key);
  const rows: EventRow[] = Array.from({ length: MANY }, (_, at) =>
    newEventRow(agent, { start_ms: NOW_MS + HOUR_MS + at }),
  );
  await writer.createEvents(rows, 0);
  await writer.close();
  const store = await open(folder);
  const id = agent.agent_id;
  if (withAgent) await store.deleteAll(id, deletionOf('delete_agent', id), true);
  else await store.deleteAll(id, deletionOf('delete_agent_events', id), false);
  // Read at once: while a list is read on its thread, the removal would go on.
  const [{ audit_id }] = readRows(databasePath(folder), 'SELECT max(audit_id) AS audit_id FROM audit') as [
    { audit_id: number },
  ];
  const countRows = () => readRows(databasePath(folder), 'SELECT 1 FROM events').length;
  return { folder, store, agent, key, rows, auditId: audit_id, countRows };
}

describe('a delete whose rows are still being moved', () => {
  for (const [name, between] of [
    ['a restart', async () => {}],
    ['bulk work', async (folder: string) => (await SqliteBulkWriter.open(folder)).close()],
  ] as const) {
    it(`can be undone after ${name}`, async (t) => {
      const { folder, store, agent, key, rows, auditId, countRows } = await deleteMany(true);
      await store.close(); // waits for one slice, not for all
      assert.ok(countRows() > 0, 'it was interrupted');
      await between(folder);
      const next = await open(folder);
      t.after(() => next.close());
      assert.deepEqual(await restoreAll(next, auditId), { restored: MANY, skipped: [] });
      assertEvents(await eventsOf(next, agent.agent_id), rows);
      assert.deepEqual(await next.findAgentByKey(key.hash, NOW_MS), agent);
      assert.equal((await findAgent(next, agent.agent_id))?.event_count, MANY);
      assertSound(databasePath(folder));
    });
  }

  it('can be undone in a backup made in its middle', async (t) => {
    const { folder, store, agent, rows, auditId } = await deleteMany(true);
    const file = join(temporaryFolder(), 'copy.db');
    const summary = await backUp(folder, file, UNWATCHED);
    await store.close();
    assert.deepEqual([summary.events, summary.agents], [0, 0]);
    const copy = join(temporaryFolder(), 'restored');
    await restore(file, copy, UNWATCHED);
    const next = await open(copy);
    t.after(() => next.close());
    assert.equal((await restoreAll(next, auditId)).restored, MANY);
    assertEvents(await eventsOf(next, agent.agent_id), rows);
  });

  it('keeps an event whose row had to make room for a new one', async (t) => {
    const { folder, store, agent, rows, auditId, countRows } = await deleteMany(false);
    t.after(() => store.close());
    const again = [rows[0]!, rows[MANY / 2]!, rows.at(-1)!];
    for (const row of again)
      assert.equal((await store.createEvent({ ...row, event_id: newUlid() }, 0)).kind, 'created');
    assert.ok(countRows() > 3, 'the others are still there');
    const { restored, skipped } = await restoreAll(store, auditId);
    assert.equal(restored, MANY - 3);
    assert.deepEqual(
      skipped,
      again.map(({ event_id, title }) => ({ event_id, title, reason: 'duplicate' })),
    );
    assert.equal((await findAgent(store, agent.agent_id))?.event_count, MANY);
    assertSound(databasePath(folder));
  });

  it('is shown after a restart as it was before', async (t) => {
    const { folder, store, agent, rows, auditId } = await deleteMany(false);
    await restoreAll(store, auditId);
    await store.close();
    const next = await open(folder);
    t.after(() => next.close());
    assertEvents(await eventsOf(next, agent.agent_id), rows);
    assert.deepEqual(readRows(databasePath(folder), 'SELECT 1 FROM deleted_events'), []);
    // Lists of agents with many events use a table of their own.
    const query = {
      q: '',
      sort: { key: 'start_at', descending: false },
      after: undefined,
      limit: 3,
    } as const;
    const page = await next.agentEventPage(agent.agent_id, { ...query, when: 'upcoming' }, NOW_MS);
    assert.equal(page.total, MANY);
    assertEvents(
      page.items.map(({ json }) => json),
      rows.slice(0, 3),
    );
  });
});
