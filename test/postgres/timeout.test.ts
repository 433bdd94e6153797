// The timeout of work on the database.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import postgres from 'postgres';
import { withTimeout } from '../../src/postgres/client/timeout.ts';
import { newDatabase } from '../support/postgres.ts';

const TIMEOUT_MS = 1_000;

describe('the timeout of work on the database', () => {
  let sql: postgres.Sql;
  before(async () => {
    sql = postgres(await newDatabase(), { max: 1 });
    await sql`SELECT 1`;
  });
  after(() => sql.end());

  it('ends the wait for work that takes longer', async () => {
    const work = sql`SELECT pg_sleep(1)`.execute();
    await assert.rejects(withTimeout(work, 100), { code: 'UNAVAILABLE' });
    await work;
  });

  it('does not count the time during which this process is blocked', async () => {
    const work = withTimeout(sql`SELECT 7 AS seven, pg_sleep(0.1)`, TIMEOUT_MS);
    for (const endMs = performance.now() + 2 * TIMEOUT_MS; performance.now() < endMs; );
    assert.equal((await work)[0]!.seven, 7);
  });
});
