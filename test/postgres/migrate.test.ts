// Databases of older and of other versions, and stray files: which are migrated, and which are refused.
import assert from 'node:assert/strict';
import { cpSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { StartError } from '../../src/domain/errors.ts';
import { encodeEvent } from '../../src/domain/event.ts';
import { readMigrations } from '../../src/migrations.ts';
import { Database } from '../../src/postgres/client/database.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { openDatabase } from '../../src/postgres/open.ts';
import { PostgresStore } from '../../src/postgres/store.ts';
import { withSql } from '../cli/moving.ts';
import { assertRecord, auditOf, newEventRow, newUuid } from '../store/rows.ts';
import { getAdministratorUrl, newDatabase } from '../support/postgres.ts';
import { temporaryFolder } from '../support/service.ts';
import { size } from '../support/sizes.ts';

const MIGRATIONS = new URL('../../src/postgres/migrations/', import.meta.url);
const OURS = readMigrations(MIGRATIONS);
const NAMES = OURS.map(({ name }) => name);

const optionsOf = (url: string) => readConfig({ DATABASE_URL: url }).database!;

/** Opens the database as a service would, and closes it. */
async function openAndClose(url: string): Promise<void> {
  await (await openDatabase(optionsOf(url))).close();
}

/** Migrates the database to the last of these migrations. */
async function migrateWith(url: string, migrations: typeof OURS): Promise<void> {
  const database = await Database.open({ ...optionsOf(url), statementTimeoutMs: 0 });
  await migrate(database, migrations).finally(() => database.close());
}

/** Migrates as the versions did that recorded no names. */
async function migrateUnrecorded(url: string, version: number): Promise<void> {
  await withSql(url, async (sql) => {
    for (const migration of OURS.slice(0, version)) {
      const isWhole = !/^-- Outside a transaction/m.test(migration.sql);
      const statements = isWhole ? [migration.sql] : migration.sql.split(/(?<=;)$/m);
      for (const statement of statements) await sql.unsafe(statement);
    }
    await sql.unsafe(
      `CREATE TABLE schema_version (version integer NOT NULL); INSERT INTO schema_version VALUES (${version})`,
    );
  });
}

/** The rows of schema_version. */
async function recordOf(url: string): Promise<object[]> {
  return withSql(url, async (sql) => (await sql`SELECT * FROM schema_version`).map((row) => ({ ...row })));
}

/** Nodes of this schema work beside all later migrations, which say so. */
const COMPATIBLE_FROM = 4;

const RECORD = [{ version: COMPATIBLE_FROM, names: NAMES }];

it('opens a database of the first schema, and keeps all its data', async () => {
  const url = await newDatabase();
  const row = newEventRow({ agent_id: newUuid() }, { title: 'Märchen' });
  await migrateUnrecorded(url, 1);
  await withSql(url, async (sql) => {
    await sql.unsafe(`
      INSERT INTO agents VALUES ('${row.agent_id}', 'a@example.com', 'old', 'read', true, 1, NULL, 1);
      INSERT INTO agents VALUES ('${newUuid()}', 'b@example.com', 'without events', 'read', true, 1, NULL, 0);
      INSERT INTO events VALUES ('${row.event_id}', '${row.agent_id}', 1, '${row.title}', ${row.start_ms}, NULL,
        ${row.lat}, ${row.lng}, 'all', 'talk', '${encodeEvent(row)}');
      INSERT INTO audit (at_ms, actor_subject, actor_email, action, target, detail, count)
        VALUES (8, 'ada', 'ada@example.com', 'delete_event', 'x', '', 1)`);
  });
  const store = await PostgresStore.open(readConfig({ DATABASE_URL: url }).database!);
  assertRecord(await store.findEvent(row.event_id), row);
  assert.equal((await store.findAgent(row.agent_id))?.agent_name, 'old');
  assert.equal(await store.isSessionEnded('any'), false);
  await withSql(url, async (sql) => {
    const agents = await sql`SELECT event_bytes::integer FROM agents ORDER BY event_bytes`;
    const bytes = Buffer.byteLength(encodeEvent(row));
    assert.deepEqual(
      agents.map(({ event_bytes }) => event_bytes),
      [0, bytes],
    );
  });
  await store.deleteEventAsAdmin(row.event_id, auditOf('delete_event', row.event_id));
  await store.close();
  assert.deepEqual(await recordOf(url), RECORD);
  await withSql(url, async (sql) => {
    const entries = await sql`SELECT audit_id::integer FROM audit ORDER BY audit_id`;
    assert.deepEqual(
      entries.map(({ audit_id }) => audit_id),
      [1, 2],
    );
  });
});

describe('the record of migrations', () => {
  it('is created with the tables, and does not change', async () => {
    const url = await newDatabase();
    await openAndClose(url);
    assert.deepEqual(await recordOf(url), RECORD);
    await openAndClose(url);
    assert.deepEqual(await recordOf(url), RECORD);
  });

  it('is added to a database of a version that had none, for each of its schemas', async () => {
    const all = OURS.map((_, at) => at + 1);
    for (const version of size([1, ...all.slice(-2)], all)) {
      const url = await newDatabase();
      await migrateUnrecorded(url, version);
      await openAndClose(url);
      assert.deepEqual(await recordOf(url), RECORD);
    }
  });

  it('is added again after such a version has rewritten the table', async () => {
    const url = await newDatabase();
    await openAndClose(url);
    await withSql(url, async (sql) => {
      await sql`DELETE FROM schema_version`;
      await sql`INSERT INTO schema_version VALUES (${OURS.length})`;
    });
    await openAndClose(url);
    assert.deepEqual(await recordOf(url), RECORD);
  });

  it('may be missing if the role may not alter the tables', async () => {
    const url = await newDatabase();
    await migrateUnrecorded(url, OURS.length);
    const guest = new URL(await newDatabase()).username;
    const inside = new URL(await getAdministratorUrl());
    inside.pathname = new URL(url).pathname;
    await withSql(inside.href, (sql) => sql.unsafe(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${guest}`));
    const asGuest = new URL(url);
    asGuest.username = guest;
    await openAndClose(asGuest.href);
    assert.deepEqual(await recordOf(url), [{ version: OURS.length }]);
    await openAndClose(url);
    assert.deepEqual(await recordOf(url), RECORD);
    await openAndClose(asGuest.href);
  });

  it('grows with the migrations, and other files in the folder do not matter', async () => {
    const url = await newDatabase();
    await migrateWith(url, OURS.slice(0, 1));
    assert.deepEqual(await recordOf(url), [{ version: 1, names: NAMES.slice(0, 1) }]);
    const folder = new URL(`file://${temporaryFolder()}/`);
    cpSync(MIGRATIONS, folder, { recursive: true });
    for (const stray of ['.DS_Store', '0000-zero.sql~', `${NAMES[0]}.sql.orig`])
      writeFileSync(new URL(stray, folder), 'nothing that PostgreSQL knows');
    await migrateWith(url, readMigrations(folder));
    assert.deepEqual(await recordOf(url), RECORD);
    await openAndClose(url);
  });

  it('makes a version refuse the migrations of another', async () => {
    const url = await newDatabase();
    await openAndClose(url);
    await withSql(url, (sql) => sql`UPDATE schema_version SET names[2] = '0002-theirs'`);
    await assert.rejects(
      openAndClose(url),
      (error: Error) =>
        error instanceof StartError && /its migration 2 is 0002-theirs, not 0002-console/.test(error.message),
    );
  });
});
