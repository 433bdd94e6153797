// Events that another node has written: their JSON comes with the poll, so that the next search need not read it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../../src/config.ts';
import { cacheMetrics, Metrics } from '../../../src/metrics/metrics.ts';
import { PostgresStore } from '../../../src/postgres/store.ts';
import { addAgent, addEvent, assertEvents, NOW_MS, search } from '../../store/rows.ts';
import { newDatabase } from '../../support/postgres.ts';

describe('an event that another node has written', { timeout: 60_000 }, () => {
  it('is found without another read, unless it is long', async (test) => {
    const { database, cacheBytes } = readConfig({ DATABASE_URL: await newDatabase() });
    const options = { ...database!, cacheBytes };
    const metrics = new Metrics();
    const { misses } = cacheMetrics(metrics, 'events');
    const [node, other] = [
      await PostgresStore.open({ ...options, metrics }),
      await PostgresStore.open(options),
    ];
    test.after(() => Promise.all([node.close(), other.close()]));
    while (node.eventsInMemory === undefined) await sleep(5);
    const { agent } = await addAgent(other);
    const short = await addEvent(other, agent, { title: 'Ä \\ "quoted" 🎈' });
    assertEvents((await node.nearby(search(), NOW_MS)).events, [short]);
    assert.equal(misses.value, 0);
    const long = await addEvent(other, agent, { description: '🎈'.repeat(9_999) });
    const { events } = await node.nearby(search(), NOW_MS);
    assert.equal(events.length, 2);
    assert.ok(events.some((event) => event.includes(Buffer.from(long.description!).toString('latin1'))));
    assert.equal(misses.value, 1);
  });
});
