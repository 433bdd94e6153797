// Dumps with the documented command, and without its option for the log: nodes over the restored database work in both cases.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../../src/config.ts';
import { PostgresStore } from '../../../src/postgres/store.ts';
import { withSql } from '../../cli/moving.ts';
import { addAgent, addEvent, assertEvents, NOW_MS, search } from '../../store/rows.ts';
import { newDatabase } from '../../support/postgres.ts';
import { makeServerFolder, runProgram } from '../../support/postgres-programs.ts';

const OPERATIONS = new URL('../../../docs/operations.md', import.meta.url);
const [, DOCUMENTED = ''] = /^pg_dump (.*) --file=/m.exec(readFileSync(OPERATIONS, 'utf8')) ?? [];
const OPTIONS = DOCUMENTED.replaceAll("'", '').split(' ');

async function open(url: string): Promise<PostgresStore> {
  const store = await PostgresStore.open({
    ...readConfig({ DATABASE_URL: url }).database!,
    cacheBytes: 1_000_000,
  });
  while (store.eventsInMemory === undefined) await sleep(5);
  return store;
}

describe('a node over a restored database', () => {
  for (const [how, options] of [
    ['of a documented dump', OPTIONS],
    ['of a dump with the log', OPTIONS.filter((option) => !option.includes('event_changes'))],
  ] as const) {
    it(`${how} has all events in memory, and follows`, async () => {
      const [from, to] = [await newDatabase(), await newDatabase()];
      const source = await open(from);
      const { agent } = await addAgent(source);
      const rows = [await addEvent(source, agent), await addEvent(source, agent)];
      // Later than every transaction of the server that it is restored to, as if that were another one.
      await withSql(from, async (sql) => {
        await sql`UPDATE event_changes SET xid = '9000000000'`;
        await sql`INSERT INTO event_changes_horizon (xid) VALUES ('9000000000')`;
      });
      await source.close();
      const file = join(makeServerFolder(), 'events.dump');
      await runProgram('pg_dump', [...options, `--file=${file}`, from]);
      await runProgram('pg_restore', ['--no-owner', '--clean', '--if-exists', `--dbname=${to}`, file]).catch(
        () => {},
      );
      const store = await open(to);
      assertEvents((await store.nearby(search(), NOW_MS)).events, rows);
      rows.push(await addEvent(store, agent));
      assertEvents((await store.nearby(search(), NOW_MS)).events, rows);
      assert.equal(store.eventsInMemory, 3);
      await withSql(to, async (sql) => {
        assert.equal((await sql`SELECT FROM event_changes`).length, 1);
      });
      await store.close();
    });
  }

  it('is what the documented command is for', () => {
    assert.ok(OPTIONS.includes('--exclude-table-data=event_changes*'));
  });
});
