// Migrations: a fresh file, a current one, one of a newer version, and one that cannot be migrated.
import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { StartError } from '../../src/domain/errors.ts';
import { encodeEvent } from '../../src/domain/event.ts';
import { readMigrations } from '../../src/migrations.ts';
import { SqliteBulkReader } from '../../src/sqlite/files/bulk.ts';
import { migrate } from '../../src/sqlite/migrate.ts';
import { SqliteStore } from '../../src/sqlite/store.ts';
import {
  addAgent,
  addEvent,
  assertRecord,
  auditOf,
  NOW_MS,
  newEventRow,
  newUuid,
  search,
} from '../store/rows.ts';
import { temporaryFolder } from '../support/service.ts';
import { execute, readRows } from './files.ts';

const MIGRATIONS = new URL('../../src/sqlite/migrations/', import.meta.url);
const OURS = readMigrations(MIGRATIONS);
const NEWEST = OURS.length;
const NAMES = OURS.map(({ name }) => name);

const versionOf = (database: DatabaseSync) => database.prepare('PRAGMA user_version').get()!.user_version;
/** The recorded names, in the order of their numbers from 1. */
const recordOf = (database: DatabaseSync): unknown[] => {
  const rows = database.prepare('SELECT number, name FROM migrations').all();
  return Array.from({ length: rows.length }, (_, at) => rows.find(({ number }) => number === at + 1)?.name);
};
const schemaOf = (database: DatabaseSync) =>
  database.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY name').all();

describe('migrate', () => {
  it('brings a fresh database to the newest schema', () => {
    const database = new DatabaseSync(':memory:');
    migrate(database);
    assert.equal(versionOf(database), NEWEST);
    const tables = schemaOf(database).filter(({ type }) => type === 'table');
    assert.deepEqual(
      tables.map(({ name }) => name),
      [
        'agents',
        'audit',
        'deleted_agents',
        'deleted_events',
        'deleted_keys',
        'ended_sessions',
        'event_order',
        'events',
        'keys',
        'migrations',
        'removals',
        'session_epochs',
        'settings',
      ],
    );
    assert.deepEqual(recordOf(database), NAMES);
    database.close();
  });

  it('does not change a database of the newest schema', () => {
    const database = new DatabaseSync(':memory:');
    migrate(database);
    database.exec("INSERT INTO settings VALUES ('colour', 'red')");
    const schema = schemaOf(database);
    migrate(database);
    assert.equal(versionOf(database), NEWEST);
    assert.deepEqual(schemaOf(database), schema);
    assert.deepEqual(recordOf(database), NAMES);
    assert.equal(database.prepare('SELECT value FROM settings').get()?.value, 'red');
    database.close();
  });

  it('takes over removals that the version before has begun', () => {
    const database = new DatabaseSync(':memory:');
    migrate(database, OURS.slice(0, NAMES.indexOf('0010-undo')));
    database.exec(`
      INSERT INTO agents (agent_id, email, agent_name, tier, is_active, created_ms) VALUES ('a', 'e', 'n', 'read', 1, 0);
      INSERT INTO removals VALUES ('a', 7, 1)`);
    migrate(database);
    const row = { ...database.prepare('SELECT * FROM removals').get() };
    assert.deepEqual(row, { agent_id: 'a', up_to_row: 7, with_agent: 1, audit_id: null });
    database.close();
  });

  it('ignores files that are not migrations', () => {
    const folder = new URL(`file://${temporaryFolder()}/`);
    cpSync(MIGRATIONS, folder, { recursive: true });
    const known = new DatabaseSync(':memory:');
    migrate(known, readMigrations(folder));
    for (const stray of ['.DS_Store', '0000-zero.sql~', `${NAMES[0]}.sql.orig`, 'notes.txt'])
      writeFileSync(new URL(stray, folder), 'nothing that SQLite knows');
    const fresh = new DatabaseSync(':memory:');
    for (const database of [known, fresh]) {
      migrate(database, readMigrations(folder));
      assert.equal(versionOf(database), NEWEST);
      assert.deepEqual(recordOf(database), NAMES);
      migrate(database);
      database.close();
    }
  });

  it('records the names in a database of a version that recorded none', () => {
    for (let version = 1; version <= NEWEST; version++) {
      const database = new DatabaseSync(':memory:');
      for (const { sql } of OURS.slice(0, version)) database.exec(sql);
      database.exec(`PRAGMA user_version = ${version}`);
      migrate(database);
      assert.equal(versionOf(database), NEWEST);
      assert.deepEqual(recordOf(database), NAMES);
      database.close();
    }
  });

  it('refuses a database with other migrations, and does not touch it', () => {
    const database = new DatabaseSync(':memory:');
    migrate(database);
    database.exec("UPDATE migrations SET name = '0002-theirs' WHERE number = 2");
    const schema = schemaOf(database);
    assert.throws(
      () => migrate(database),
      (error: Error) =>
        error instanceof StartError && /its migration 2 is 0002-theirs, not 0002-console/.test(error.message),
    );
    assert.deepEqual(schemaOf(database), schema);
    assert.equal(recordOf(database)[1], '0002-theirs');
    database.close();
  });

  it('continues after the last recorded migration', () => {
    const database = new DatabaseSync(':memory:');
    migrate(database, OURS.slice(0, 1));
    assert.deepEqual([versionOf(database), recordOf(database)], [1, NAMES.slice(0, 1)]);
    migrate(database);
    assert.deepEqual([versionOf(database), recordOf(database)], [NEWEST, NAMES]);
    database.close();
  });

  it('refuses a database that a newer version wrote, and does not touch it', () => {
    const database = new DatabaseSync(':memory:');
    database.exec(`CREATE TABLE future (x); PRAGMA user_version = ${NEWEST + 1}`);
    const schema = schemaOf(database);
    assert.throws(
      () => migrate(database),
      (error: Error) => error instanceof StartError && /newer version of local-events/.test(error.message),
    );
    assert.equal(versionOf(database), NEWEST + 1);
    assert.deepEqual(schemaOf(database), schema);
    database.close();
  });

  it('leaves version and schema unchanged when a migration fails half-way', () => {
    const database = new DatabaseSync(':memory:');
    // The first migration creates agents and keys before events.
    database.exec('CREATE TABLE events (theirs)');
    const schema = schemaOf(database);
    assert.throws(() => migrate(database), /table events already exists/);
    assert.equal(database.isTransaction, false);
    assert.equal(versionOf(database), 0);
    assert.deepEqual(schemaOf(database), schema);
    database.close();
  });
});

describe('a store', () => {
  const open = (folder: string) => SqliteStore.open({ folder, cacheBytes: 0 });

  it('opens a folder of the first schema, and keeps all its data', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'local-events.db');
    const row = newEventRow({ agent_id: newUuid() }, { title: 'Märchen' });
    execute(
      path,
      `${readFileSync(new URL('0001-initial.sql', MIGRATIONS), 'utf8')}; PRAGMA user_version = 1;
       INSERT INTO agents VALUES ('${row.agent_id}', 'a@example.com', 'old', 'read', 1, 1, NULL, 1);
       INSERT INTO agents VALUES ('${newUuid()}', 'b@example.com', 'without events', 'read', 1, 1, NULL, 0);
       INSERT INTO events VALUES (1, '${row.event_id}', '${row.agent_id}', 1, '${row.title}', ${row.start_ms}, NULL,
         ${row.lat}, ${row.lng}, 'all', 'talk', '${encodeEvent(row)}');
       INSERT INTO audit VALUES (7, 8, 'ada', 'ada@example.com', 'delete_event', 'x', '', 1)`,
    );
    const store = await open(folder);
    assertRecord(await store.findEvent(row.event_id), row);
    assert.equal((await store.findEvent(row.event_id))?.updatedMs, null);
    assert.deepEqual({ ...(await store.findEventRow(row.event_id)) }, row);
    assert.equal((await store.nearby(search(), NOW_MS)).total, 1);
    assert.equal((await store.findAgent(row.agent_id))?.agent_name, 'old');
    assert.equal(await store.isSessionEnded('any'), false);
    const bytes = Buffer.byteLength(encodeEvent(row));
    assert.deepEqual(
      readRows(path, 'SELECT event_bytes FROM agents ORDER BY event_bytes').map((agent) => agent.event_bytes),
      [0, bytes],
    );
    await store.deleteEventAsAdmin(row.event_id, auditOf('delete_event', row.event_id));
    await store.close();
    assert.equal(readRows(path, 'PRAGMA user_version')[0].user_version, NEWEST);
    assert.deepEqual(
      readRows(path, 'SELECT name FROM migrations ORDER BY number').map(({ name }) => name),
      NAMES,
    );
    assert.deepEqual(
      readRows(path, 'SELECT audit_id, target, target_name FROM audit').map((entry) => entry.audit_id),
      [7, 8],
    );
  });

  it('leaves data of the previous schema readable without a migration, as an export does', async () => {
    const folder = temporaryFolder();
    const row = newEventRow({ agent_id: newUuid() });
    const database = new DatabaseSync(join(folder, 'local-events.db'));
    migrate(database, OURS.slice(0, 2));
    database.exec(
      `INSERT INTO agents VALUES ('${row.agent_id}', 'a@example.com', 'old', 'read', 1, 1, NULL, 1);
       INSERT INTO events VALUES (1, '${row.event_id}', '${row.agent_id}', 1, '${row.title}', ${row.start_ms}, NULL,
         ${row.lat}, ${row.lng}, 'all', 'talk', '${encodeEvent(row)}')`,
    );
    database.close();
    const reader = new SqliteBulkReader(folder);
    assert.deepEqual((await Array.fromAsync(reader.events(undefined))).flat(), [row]);
    assert.equal((await reader.findAgent(row.agent_id))?.agent_name, 'old');
    await reader.close();
  });

  it('refuses a folder that a newer version wrote, and releases it', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'local-events.db');
    const store = await open(folder);
    const { agent } = await addAgent(store);
    const row = await addEvent(store, agent);
    await store.close();
    execute(path, `PRAGMA user_version = ${NEWEST + 1}`);
    for (let attempt = 0; attempt < 2; attempt++) {
      await assert.rejects(
        open(folder),
        (error: Error) => error instanceof StartError && /newer version of local-events/.test(error.message),
      );
    }
    execute(path, `PRAGMA user_version = ${NEWEST}`);
    const again = await open(folder);
    assertRecord(await again.findEvent(row.event_id), row);
    await again.close();
  });

  it('refuses a folder whose migration fails, names the file, and does not change its version', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'local-events.db');
    execute(path, 'CREATE TABLE events (theirs)');
    await assert.rejects(
      open(folder),
      (error: Error) => error instanceof StartError && error.message.includes(path),
    );
    assert.equal(readRows(path, 'PRAGMA user_version')[0].user_version, 0);
    assert.deepEqual(
      readRows(path, 'SELECT name FROM sqlite_schema').map(({ name }) => name),
      ['events'],
    );
  });
});
