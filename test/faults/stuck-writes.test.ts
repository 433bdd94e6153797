// Writes that are stuck in PostgreSQL: reads keep connections of their own.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { newEvent } from '../support/client.ts';
import { newDatabase } from '../support/postgres.ts';
import { startTestService } from '../support/service.ts';

it('reads go on while writes wait for a lock, and the writes finish after it', {
  timeout: 60_000,
}, async (t) => {
  const DATABASE_URL = await newDatabase();
  const service = await startTestService({ DATABASE_URL }, { until: t });
  const agent = await service.newAgent();
  const { event_id } = await agent.create({ title: 'Before' });
  const sql = postgres(DATABASE_URL, { max: 1, onnotice: () => {} });
  t.after(() => sql.end());
  let writes: Promise<{ readonly status: number }[]> | undefined;
  await sql.begin(async (locking) => {
    await locking`LOCK TABLE events IN SHARE MODE`; // others can read, not write
    writes = Promise.all(
      Array.from({ length: 40 }, (_, number) =>
        agent.post('/v1/events', newEvent({ title: `New ${number}` })),
      ),
    );
    await sleep(2_500); // longer than a statement waits for a connection
    for (let time = 0; time < 20; time++) {
      const found = await agent.nearby();
      assert.equal(found.status, 200, found.text);
      assert.equal((await agent.get(`/v1/events/${event_id}`)).status, 200);
    }
    assert.equal((await service.client.get('/health')).status, 200);
  });
  const statuses = (await writes!).map(({ status }) => status);
  assert.deepEqual(
    statuses.filter((status) => status !== 200 && status !== 503),
    [],
  );
  assert.ok(statuses.includes(200), 'those that had a connection are done');
  assert.equal((await agent.post('/v1/events', newEvent({ title: 'After' }))).status, 200);
});
