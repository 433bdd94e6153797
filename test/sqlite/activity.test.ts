// Events of the last days are counted in an index that also has events which are being removed: those do not count.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AgentListQuery } from '../../src/domain/administration/list.ts';
import { newUlid } from '../../src/domain/ids.ts';
import { databasePath } from '../../src/sqlite/files/data-folder.ts';
import { SqliteStore } from '../../src/sqlite/store.ts';
import { systemRandom } from '../../src/system.ts';
import { addAgent, auditOf, NOW_MS, newEventRow } from '../store/rows.ts';
import { temporaryFolder } from '../support/service.ts';
import { execute } from './files.ts';

/** Their removal takes many slices. */
const MANY = 31_000;
const HOUR_MS = 3_600_000;

describe('agents by activity with many new events', () => {
  it('have exact counts, without what is being removed', async (test) => {
    const folder = temporaryFolder();
    const open = () => SqliteStore.open({ folder, cacheBytes: 0, nowMs: NOW_MS });
    const store = await open();
    const template = (await addAgent(store, { agent_name: 'template', created_ms: 1 })).agent;
    await addAgent(store, { agent_name: 'idle', created_ms: 2 });
    const busy = (await addAgent(store, { agent_name: 'busy', created_ms: 3 })).agent;
    const event_id = newUlid(NOW_MS - 30 * HOUR_MS, systemRandom);
    await store.createEvent(newEventRow(template, { event_id, created_ms: NOW_MS - 30 * HOUR_MS }), 0);
    const another = {
      event_id: newUlid(NOW_MS - 29 * HOUR_MS, systemRandom),
      created_ms: NOW_MS - 29 * HOUR_MS,
    };
    await store.createEvent(newEventRow(template, another), 0);
    await store.close();
    const copied = (agentId: string, id: string, title: string) => `
      INSERT INTO events (event_id, agent_id, version, title, start_ms, end_ms, lat, lng, audience, event_type, json, timezone, status, updated_ms)
      SELECT ${id}, '${agentId}', version, ${title}, start_ms, end_ms, lat, lng, audience, event_type, json, timezone, status, updated_ms FROM events`;
    execute(
      databasePath(folder),
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${MANY})
       ${copied(busy.agent_id, "substr(event_id, 1, 10) || printf('%016d', n)", 'CAST(n AS TEXT)')}, numbers WHERE event_id = '${event_id}';
       UPDATE agents SET event_count = ${MANY} WHERE agent_id = '${busy.agent_id}';`,
    );
    const reopened = await open();
    test.after(() => reopened.close());
    const query = (key: 'events_24h' | 'events_7d'): AgentListQuery => ({
      ...{ q: '', after: undefined, limit: 2, activity: true },
      sort: { key, descending: true },
    });
    const page = async (key: 'events_24h' | 'events_7d') => {
      const { items, total } = await reopened.agentPage(query(key), NOW_MS);
      assert.equal(total, 3);
      return items.map(({ agent_name, activity }) => [agent_name, activity?.events_24h, activity?.events_7d]);
    };
    assert.deepEqual(await page('events_7d'), [
      ['busy', 0, MANY],
      ['template', 0, 2],
    ]);
    assert.deepEqual(
      (await page('events_24h')).map(([, lastDay]) => lastDay),
      [0, 0],
    );
    // While the removal of so many goes on, they do not count.
    await reopened.deleteAll(busy.agent_id, auditOf('delete_agent_events', busy.agent_id), false);
    const recent = newUlid(NOW_MS - HOUR_MS, systemRandom);
    await reopened.createEvent(newEventRow(busy, { event_id: recent, created_ms: NOW_MS - HOUR_MS }), 0);
    assert.deepEqual(await page('events_7d'), [
      ['template', 0, 2],
      ['busy', 1, 1],
    ]);
    assert.deepEqual(await reopened.countCreated([NOW_MS - 40 * HOUR_MS, NOW_MS - 2 * HOUR_MS]), [
      { events: 2, agents: 0 },
      { events: 1, agents: 0 },
    ]);
  });
});
