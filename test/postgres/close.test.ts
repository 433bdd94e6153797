// Closing while an operation waits for a lock: its remaining statements still run.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { PostgresStore } from '../../src/postgres/store.ts';
import { addAgent, addEvent } from '../store/rows.ts';
import { newDatabase } from '../support/postgres.ts';
import { Side } from './side.ts';

it('finishes a replacement that waits for a lock and then has to look for the duplicate', async (t) => {
  const url = await newDatabase();
  const side = new Side(url);
  t.after(() => side.close());
  const store = await PostgresStore.open(readConfig({ DATABASE_URL: url }).database!);
  const { agent } = await addAgent(store);
  const [first, second] = [await addEvent(store, agent), await addEvent(store, agent)];
  const title = 'the same';
  const lock = await side.hold(
    (sql) => sql`UPDATE events SET title = ${title} WHERE event_id = ${first.event_id}`,
  );
  const replacing = store.replaceEvent({ ...second, version: 2, title });
  await side.untilBlocked();
  const closing = store.close();
  await lock.release();
  assert.deepEqual(await replacing, { kind: 'duplicate', id: first.event_id });
  await closing;
});
