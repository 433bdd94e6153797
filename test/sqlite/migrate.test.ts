// Migrations: a fresh file, a current one, one of a newer version, and one that cannot be migrated.
import assert from 'node:assert/strict';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { StartError } from '../../src/domain/errors.ts';
import { readMigrations } from '../../src/migrations.ts';
import { migrate, requireReadable } from '../../src/sqlite/migrate.ts';
import { SqliteStore } from '../../src/sqlite/store.ts';
import { addGrant } from '../store/grant-rows.ts';
import { addAgent, addEvent, assertRecord, NOW_MS, newUuid } from '../store/rows.ts';
import { temporaryFolder } from '../support/service.ts';
import { execute, readRows } from './files.ts';

const MIGRATIONS = new URL('../../src/sqlite/migrations/', import.meta.url);
const OURS = readMigrations(MIGRATIONS);
const NEWEST = OURS.length;
const NAMES = OURS.map(({ name }) => name);
const LATER = [...OURS, { name: 'later', sql: 'CREATE TABLE later (x)' }];

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
        'deleted_grant_tokens',
        'deleted_grants',
        'deleted_keys',
        'event_order',
        'events',
        'grant_tokens',
        'grants',
        'keys',
        'migrations',
        'oauth_clients',
        'removals',
        'settings',
      ],
    );
    assert.deepEqual(recordOf(database), NAMES);
    database.close();
  });

  it('does not change a database of the newest schema', () => {
    const database = new DatabaseSync(':memory:');
    migrate(database);
    database.exec("INSERT INTO settings VALUES ('colour', 'red', NULL)");
    const schema = schemaOf(database);
    migrate(database);
    assert.equal(versionOf(database), NEWEST);
    assert.deepEqual(schemaOf(database), schema);
    assert.deepEqual(recordOf(database), NAMES);
    assert.equal(database.prepare('SELECT value FROM settings').get()?.value, 'red');
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

  it('refuses a database with other migrations, and does not touch it', () => {
    const database = new DatabaseSync(':memory:');
    migrate(database);
    database.exec("UPDATE migrations SET name = '0001-theirs' WHERE number = 1");
    const schema = schemaOf(database);
    assert.throws(
      () => migrate(database),
      (error: Error) =>
        error instanceof StartError &&
        /its migration 1 is 0001-theirs, not 0001-release-1/.test(error.message),
    );
    assert.deepEqual(schemaOf(database), schema);
    assert.deepEqual(recordOf(database), ['0001-theirs', ...NAMES.slice(1)]);
    database.close();
  });

  it('continues after the last recorded migration', () => {
    const database = new DatabaseSync(':memory:');
    migrate(database);
    migrate(database, LATER);
    assert.deepEqual([versionOf(database), recordOf(database)], [NEWEST + 1, [...NAMES, 'later']]);
    database.close();
  });

  it('refuses a database that a newer version wrote, and does not touch it', () => {
    const database = new DatabaseSync(':memory:');
    migrate(database, LATER);
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
    // The migration creates agents and keys before events.
    database.exec('CREATE TABLE events (theirs)');
    const schema = schemaOf(database);
    assert.throws(() => migrate(database), /table events already exists/);
    assert.equal(database.isTransaction, false);
    assert.equal(versionOf(database), 0);
    assert.deepEqual(schemaOf(database), schema);
    database.close();
  });
});

describe('data of 1.0.0', () => {
  it('gets the tables of later versions, and keeps what it has', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'local-events.db');
    const database = new DatabaseSync(path);
    migrate(database, readMigrations(MIGRATIONS).slice(0, 1));
    database.exec(`INSERT INTO agents VALUES ('${newUuid()}', 'a@b.co', 'old', 'readwrite', 1, 1, NULL, 0, 0);
      INSERT INTO keys SELECT 'hash', agent_id, 'lev_test', 1, NULL, NULL FROM agents`);
    database.close();
    const store = await SqliteStore.open({ folder, cacheBytes: 0 });
    const agent = (await store.findAgentByKey('hash', 2))!;
    const { tokens } = await addGrant(store, agent, { hash: 'hash', prefix: 'lev_test' });
    assert.equal((await store.findAccessToken(tokens.access_hash, NOW_MS))?.agent, agent);
    await store.close();
    assert.equal(readRows(path, 'PRAGMA user_version')[0].user_version, NEWEST);
  });
});

describe('requireReadable', () => {
  it('accepts the newest schema only', () => {
    const database = new DatabaseSync(':memory:');
    migrate(database);
    requireReadable(database);
    assert.throws(
      () => requireReadable(database, LATER),
      (error: Error) =>
        error instanceof StartError && /older version .* Start the service once/.test(error.message),
    );
    migrate(database, LATER);
    requireReadable(database, LATER);
    assert.throws(() => requireReadable(database), /newer version of local-events/);
    database.close();
  });
});

describe('a store', () => {
  const open = (folder: string) => SqliteStore.open({ folder, cacheBytes: 0 });

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
