// Reading in one snapshot, although nothing is awaited between BEGIN and the first statements.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import postgres from 'postgres';
import { readConfig } from '../../../src/config.ts';
import { Database, type OwnConnection } from '../../../src/postgres/client/database.ts';
import { inSnapshot } from '../../../src/postgres/memory/load.ts';
import { newDatabase } from '../../support/postgres.ts';

let database: Database;
let sql: OwnConnection['sql'];
let other: postgres.Sql;
before(async () => {
  const url = await newDatabase();
  database = await Database.open(readConfig({ DATABASE_URL: url }).database!);
  ({ sql } = await database.connect({}));
  other = postgres(url, { max: 1 });
  await other`create table numbers (number int)`;
});
after(() => Promise.all([database.close(), other.end()]));

const level = async () => (await sql`select current_setting('transaction_isolation') as level`)[0]!.level;
const count = async () => (await sql`select count(*)::int as count from numbers`)[0]!.count;

it('all statements of a snapshot see the same, and the next ones what has changed', async () => {
  for (let round = 0; round < 10; round++) {
    const seen = await inSnapshot(sql, async () => {
      const first = await Promise.all([count(), level()]);
      await other`insert into numbers values (${round})`;
      return [...first, await count()];
    });
    assert.deepEqual(seen, [round, 'repeatable read', round]);
    assert.deepEqual([await count(), await level()], [round + 1, 'read committed']);
  }
});

it('a snapshot ends when its work fails', async () => {
  await assert.rejects(
    inSnapshot(sql, () => sql`select * from nowhere`),
    { code: '42P01' },
  );
  assert.equal(await level(), 'read committed');
});
