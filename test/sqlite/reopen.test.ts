// A store that is closed and reopened, with any cache size, holds everything, and its index equals the file.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { KeyFingerprint } from '../../src/domain/api-key.ts';
import type { EventRow } from '../../src/domain/events/event.ts';
import { SqliteStore } from '../../src/sqlite/store.ts';
import { WORLD_BEGINS_MS, World } from '../spatial/world.ts';
import {
  addAgent,
  addEvent,
  assertEvents,
  assertRecord,
  auditOf,
  HOUR_MS,
  NOW_MS,
  newEventRow,
  newKey,
  newUlid,
  search,
  searchAll,
} from '../store/rows.ts';
import { Chance } from '../support/random.ts';
import { temporaryFolder } from '../support/service.ts';
import { size } from '../support/sizes.ts';
import { readOpenEvents } from './files.ts';

const CACHES = { 'no cache': 0, 'a cache for a few events': 5_000, 'a cache for all events': 10_000_000 };

for (const [name, cacheBytes] of Object.entries(CACHES)) {
  describe(`a store with ${name}`, () => {
    it('holds everything when it is reopened', async () => {
      const folder = temporaryFolder();
      const open = () => SqliteStore.open({ folder, cacheBytes });
      const store = await open();
      const kept = await addAgent(store);
      const off = await addAgent(store);
      const gone = await addAgent(store);
      const next = newKey();
      const endMs = NOW_MS + HOUR_MS;
      await store.rotateKey(kept.agent.agent_id, kept.key.hash, next, NOW_MS, endMs);
      const revoked = await addAgent(store);
      await store.revokeKey(revoked.key.hash);
      const row = await addEvent(store, kept.agent);
      const changed = { ...(await addEvent(store, kept.agent)), version: 2, title: 'changed', lat: 1 };
      await store.replaceEvent(changed);
      const deleted = await addEvent(store, kept.agent);
      await store.deleteEvent(deleted.event_id, kept.agent.agent_id);
      await addEvent(store, gone.agent);
      await store.deleteAll(gone.agent.agent_id, auditOf('delete_agent', gone.agent.agent_id), true);
      const update = { is_active: false, tier: 'read' } as const;
      await store.updateAgent(off.agent.agent_id, update, auditOf('update_agent', off.agent.agent_id));
      await store.getSetting('colour', async () => 'red');
      store.noteUse(kept.agent.agent_id, NOW_MS + 5);
      const agents = await store.listAgents();
      await store.close();

      const again = await open();
      assert.deepEqual(await again.listAgents(), agents);
      assert.deepEqual(
        agents.map(({ agent_id, last_used_ms, event_count }) => [agent_id, last_used_ms, event_count]),
        [
          [kept.agent.agent_id, NOW_MS + 5, 2],
          [off.agent.agent_id, null, 0],
          [revoked.agent.agent_id, null, 0],
        ],
      );
      const holderOf = async (key: KeyFingerprint, nowMs: number) =>
        (await again.findAgentByKey(key.hash, nowMs))?.agent_id;
      assert.equal(await holderOf(kept.key, endMs - 1), kept.agent.agent_id);
      assert.equal(await holderOf(kept.key, endMs), undefined);
      assert.equal(await holderOf(next, endMs), kept.agent.agent_id);
      assert.equal(await holderOf(revoked.key, NOW_MS), undefined);
      assert.equal(await again.findAgentByKey(off.key.hash, NOW_MS), undefined);
      assert.equal(await again.findAgentByKey(gone.key.hash, NOW_MS), undefined);
      assert.equal(await again.getSetting('colour', async () => 'blue'), 'red');
      assertRecord(await again.findEvent(row.event_id), row);
      assertRecord(await again.findEvent(changed.event_id), changed);
      assert.equal(await again.findEvent(deleted.event_id), undefined);
      assertEvents(await searchAll(again, search(), NOW_MS), [row, changed]);
      const repeated = await again.createEvent({ ...changed, event_id: newUlid(), version: 1 }, 0);
      assertRecord('record' in repeated ? repeated.record : undefined, changed);
      await again.close();
    });

    it('finds by search what the file holds, before and after it is reopened', async () => {
      const chance = new Chance(cacheBytes + 1);
      const world = new World(chance);
      const folder = temporaryFolder();
      let store = await SqliteStore.open({ folder, cacheBytes });
      const { agent } = await addAgent(store);
      const rows = Array.from({ length: size(500, 1_500) }, () => {
        const { id, startMs, endsMs, lat, lng } = world.entry();
        const end_ms = chance.chance(0.5) ? null : endsMs;
        return newEventRow(agent, { event_id: id, title: id, start_ms: startMs, end_ms, lat, lng });
      });
      await Promise.all(rows.map((row) => store.createEvent(row, 0)));
      await Promise.all(
        chance.some(rows, 0.3).map((row) => {
          const next: EventRow = { ...row, version: 2, start_ms: row.start_ms + 7, ...world.place() };
          return chance.chance(0.5)
            ? store.replaceEvent(next)
            : store.deleteEvent(row.event_id, agent.agent_id);
        }),
      );
      for (let opened = 0; opened < 2; opened++) {
        for (const nowMs of [0, WORLD_BEGINS_MS, WORLD_BEGINS_MS + 30 * 86_400_000]) {
          const expected = readOpenEvents(join(folder, 'local-events.db'), nowMs);
          assertEvents(await searchAll(store, search(), nowMs), expected);
          assert.equal((await store.nearby(search(), nowMs)).total, expected.length);
        }
        await store.close();
        if (opened === 0) store = await SqliteStore.open({ folder, cacheBytes });
      }
    });
  });
}

describe('a closed store', () => {
  it('leaves only one database file and the lock, with nothing to recover', async () => {
    const folder = temporaryFolder();
    const store = await SqliteStore.open({ folder, cacheBytes: 0 });
    const { agent } = await addAgent(store);
    await addEvent(store, agent);
    await store.close();
    assert.deepEqual(readdirSync(folder).sort(), ['local-events.db', 'lock.db']);
  });
});

describe('a store that is reopened', () => {
  it('knows the timezones of its events, whatever their texts say', async () => {
    const folder = temporaryFolder();
    const store = await SqliteStore.open({ folder, cacheBytes: 0 });
    const { agent } = await addAgent(store);
    const start_ms = NOW_MS + 21 * HOUR_MS; // in Kiritimati it is already the next day there and then
    const text = '"timezone":"Europe/Berlin","\\"timezone":"Europe/Berlin"';
    const texts = { title: text, description: text, location_name: text };
    const found = await addEvent(store, agent, { ...texts, start_ms, timezone: 'Pacific/Kiritimati' });
    await addEvent(store, agent, { ...texts, start_ms, timezone: 'Europe/Berlin', lat: 7 });
    await store.close();
    const again = await SqliteStore.open({ folder, cacheBytes: 0 });
    assertEvents((await again.nearby(search({ when: 'today' }), NOW_MS)).events, [found]);
    await again.close();
  });
});
