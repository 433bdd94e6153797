// A database of the first schema is opened and keeps all that is in it.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { it } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { encodeEvent } from '../../src/domain/event.ts';
import { PostgresStore } from '../../src/postgres/store.ts';
import { withSql } from '../cli/moving.ts';
import { assertRecord, auditOf, newEventRow, newUuid } from '../store/rows.ts';
import { newDatabase } from '../support/postgres.ts';

const MIGRATIONS = new URL('../../src/postgres/migrations/', import.meta.url);

it('opens a database of the first schema, and keeps all that is in it', async () => {
  const url = await newDatabase();
  const row = newEventRow({ agent_id: newUuid() });
  await withSql(url, async (sql) => {
    await sql.unsafe(readFileSync(new URL('0001-start.sql', MIGRATIONS), 'utf8'));
    await sql.unsafe(`
      CREATE TABLE schema_version (version integer NOT NULL);
      INSERT INTO schema_version VALUES (1);
      INSERT INTO agents VALUES ('${row.agent_id}', 'a@example.com', 'old', 'read', true, 1, NULL, 1);
      INSERT INTO events VALUES ('${row.event_id}', '${row.agent_id}', 1, '${row.title}', ${row.start_ms}, NULL,
        ${row.lat}, ${row.lng}, 'all', 'talk', '${encodeEvent(row)}');
      INSERT INTO audit (at_ms, actor_subject, actor_email, action, target, detail, count)
        VALUES (8, 'ada', 'ada@example.com', 'delete_event', 'x', '', 1)`);
  });
  const store = await PostgresStore.open(readConfig({ DATABASE_URL: url }).database!);
  assertRecord(await store.findEvent(row.event_id), row);
  assert.equal((await store.findAgent(row.agent_id))?.agent_name, 'old');
  assert.equal(await store.isSessionEnded('any'), false);
  await store.deleteEventAsAdmin(row.event_id, auditOf('delete_event', row.event_id));
  await store.close();
  await withSql(url, async (sql) => {
    const [schema] = await sql`SELECT version FROM schema_version`;
    assert.equal(schema?.version, readdirSync(MIGRATIONS).length);
    const entries = await sql`SELECT audit_id::integer FROM audit ORDER BY audit_id`;
    assert.deepEqual(
      entries.map(({ audit_id }) => audit_id),
      [1, 2],
    );
  });
});
