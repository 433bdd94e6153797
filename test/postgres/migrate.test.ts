// The record of migrations: what it says, and which databases are refused by it.
import assert from 'node:assert/strict';
import { cpSync, writeFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { StartError } from '../../src/domain/errors.ts';
import { readMigrations } from '../../src/migrations.ts';
import { Database } from '../../src/postgres/client/database.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { openDatabase } from '../../src/postgres/open.ts';
import { withSql } from '../cli/moving.ts';
import { newDatabase } from '../support/postgres.ts';
import { temporaryFolder } from '../support/service.ts';

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

/** The rows of schema_version. */
async function recordOf(url: string): Promise<object[]> {
  return withSql(url, async (sql) => (await sql`SELECT * FROM schema_version`).map((row) => ({ ...row })));
}

const RECORD = [{ version: 1, names: NAMES }];

describe('the record of migrations', () => {
  it('is created with the tables, and does not change', async () => {
    const url = await newDatabase();
    await openAndClose(url);
    assert.deepEqual(await recordOf(url), RECORD);
    await openAndClose(url);
    assert.deepEqual(await recordOf(url), RECORD);
  });

  it('grows with the migrations, and other files in the folder do not matter', async () => {
    const url = await newDatabase();
    const folder = new URL(`file://${temporaryFolder()}/`);
    cpSync(MIGRATIONS, folder, { recursive: true });
    for (const stray of ['.DS_Store', '0000-zero.sql~', `${NAMES[0]}.sql.orig`])
      writeFileSync(new URL(stray, folder), 'nothing that PostgreSQL knows');
    await migrateWith(url, readMigrations(folder));
    assert.deepEqual(await recordOf(url), RECORD);
    await openAndClose(url);
    const later = { name: '0002-later', sql: '-- Compatible from: 1\nCREATE TABLE later ();' };
    await migrateWith(url, [...OURS, later]);
    assert.deepEqual(await recordOf(url), [{ version: 1, names: [...NAMES, later.name] }]);
    await openAndClose(url);
  });

  it('makes a version refuse the migrations of another', async () => {
    const url = await newDatabase();
    await openAndClose(url);
    await withSql(url, (sql) => sql`UPDATE schema_version SET names[1] = '0001-theirs'`);
    await assert.rejects(
      openAndClose(url),
      (error: Error) =>
        error instanceof StartError &&
        /its migration 1 is 0001-theirs, not 0001-release-1/.test(error.message),
    );
  });
});
