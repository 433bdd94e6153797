// Data from before 1.0.0: every command refuses it, says what to do, and leaves it as it is.
import assert from 'node:assert/strict';
import { copyFileSync, cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { before, describe, it } from 'node:test';
import { LAST_BEFORE_RELEASE } from '../../src/migrations.ts';
import { databasePath } from '../../src/sqlite/files/data-folder.ts';
import { runHere } from '../support/command.ts';
import { newDatabase } from '../support/postgres.ts';
import { temporaryFolder } from '../support/service.ts';
import { AGENT_ID, databaseBefore, folderBefore } from './before-release.ts';
import { fileOf, NEW_AGENT } from './bulk.ts';
import { withSql } from './moving.ts';

const REFUSED = new RegExp(
  `before 1\\.0\\.0, which this version cannot use\\. Nothing was changed\\..* "export" with the version of commit ` +
    `${LAST_BEFORE_RELEASE}, then "import" .* Agents, keys, IDs, ended events and the audit log are not taken over\\.`,
);

async function assertRefused(args: readonly string[], env: Record<string, string>): Promise<void> {
  const { code, stdout, stderr } = await runHere(args, env);
  assert.equal(code, args[0] === 'check' ? 2 : 1, `${args.join(' ')}: ${stdout}${stderr}`);
  assert.match(stdout + stderr, REFUSED);
}

/** Commands that use the data of their environment. */
const COMMANDS: readonly (readonly string[])[] = [
  ['serve'],
  ['check'],
  ['agents', 'list'],
  ['agents', 'show', AGENT_ID],
  ['agents', 'deactivate', AGENT_ID],
  ['export'],
  ['import', fileOf(''), ...NEW_AGENT],
  ['admin-token', '--email', 'ada@example.com'],
];

describe('a data folder from before 1.0.0', () => {
  const folders: Record<string, string> = {};
  before(() => {
    for (const [name, records] of [
      ['of the last version before', true],
      ['of the first versions', false],
    ] as const) {
      folders[name] = temporaryFolder();
      const database = new DatabaseSync(databasePath(folders[name]));
      database.exec(folderBefore(records));
      if (records) {
        // What a killed process leaves: the rows are in the write-ahead log.
        folders['of a killed process'] = temporaryFolder();
        for (const suffix of ['', '-wal'])
          copyFileSync(
            `${databasePath(folders[name])}${suffix}`,
            `${databasePath(folders['of a killed process'])}${suffix}`,
          );
      }
      database.close();
    }
  });

  /** Bytes of the files that have data. */
  const contentOf = (folder: string) =>
    ['', '-wal'].map((suffix) => {
      const path = `${databasePath(folder)}${suffix}`;
      return existsSync(path) ? readFileSync(path, 'latin1') : '';
    });

  for (const name of ['of the last version before', 'of the first versions', 'of a killed process']) {
    it(`${name} is refused by every command, and not changed`, async () => {
      const folder = join(temporaryFolder(), 'data');
      cpSync(folders[name]!, folder, { recursive: true });
      const content = contentOf(folder);
      const env = { DATA_DIR: folder, PORT: '0' };
      for (const args of [...COMMANDS, ['backup', join(temporaryFolder(), 'copy.db')]]) {
        await assertRefused(args, env);
        assert.deepEqual(contentOf(folder), content, args.join(' '));
      }
      const empty = await newDatabase();
      await assertRefused(['move', '--to', empty], env);
      await assertRefused(['move', '--from', empty, '--to', folder], {});
      assert.deepEqual(contentOf(folder), content);
    });
  }

  it('is refused as a backup, and no folder is created', async () => {
    const file = join(temporaryFolder(), 'copy.db');
    copyFileSync(databasePath(folders['of the last version before']!), file);
    const content = readFileSync(file, 'latin1');
    const folder = join(temporaryFolder(), 'data');
    await assertRefused(['restore', file], { DATA_DIR: folder });
    assert.deepEqual([existsSync(folder), readFileSync(file, 'latin1')], [false, content]);
  });
});

describe('a database from before 1.0.0', () => {
  for (const [name, records] of [
    ['of the last versions before', true],
    ['of the first versions', false],
  ] as const) {
    it(`${name} is refused by every command, and not changed`, async () => {
      const DATABASE_URL = await newDatabase();
      const contentOf = () =>
        withSql(DATABASE_URL, async (sql) =>
          JSON.stringify([
            await sql`SELECT * FROM schema_version`,
            await sql`SELECT *, xmin::text FROM agents`,
            await sql`SELECT *, xmin::text FROM events`,
            await sql`SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY oid`,
          ]),
        );
      await withSql(DATABASE_URL, (sql) => sql.unsafe(databaseBefore(records)));
      const content = await contentOf();
      for (const args of COMMANDS) await assertRefused(args, { DATABASE_URL, PORT: '0' });
      const folder = join(temporaryFolder(), 'data');
      await assertRefused(['move', '--from', DATABASE_URL, '--to', folder], {});
      assert.equal(await contentOf(), content);
      assert.deepEqual(
        readdirSync(join(folder, '..')).filter((file) => file.endsWith('.db')),
        [],
      );
    });
  }
});
