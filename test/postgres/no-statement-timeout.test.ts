// A statement timeout of 0 means none: a statement may run as long as the server is up.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { openDatabase } from '../../src/postgres/open.ts';
import { newDatabase } from '../support/postgres.ts';

it('without a statement timeout, a statement may run for any time', async (test) => {
  const env = { DATABASE_URL: await newDatabase(), DATABASE_STATEMENT_TIMEOUT_MS: '0' };
  const database = await openDatabase(readConfig(env).database!);
  test.after(() => database.close());
  const [row] = await database.run('once', (sql) => sql`SELECT 1 AS one FROM pg_sleep(1.3)`);
  assert.equal(row?.one, 1);
});
