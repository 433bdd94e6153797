// Restore: it refuses folders that are not empty and files that are not whole backups, and accepts older backups too.
import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { restore } from '../../src/sqlite/files/backup.ts';
import { databasePath, holdFolder } from '../../src/sqlite/files/data-folder.ts';
import { temporaryFolder } from '../support/service.ts';
import { makeBackup, makeData, UNWATCHED } from './data.ts';
import { assertSound, execute, readRows } from './files.ts';

const EVENTS = 2_000;

async function assertRefused(file: string, folder: string, message: RegExp): Promise<void> {
  await assert.rejects(restore(file, folder, UNWATCHED), { name: 'StartError', message });
}

async function assertRestores(file: string, folder: string): Promise<void> {
  assert.equal((await restore(file, folder, UNWATCHED)).events, EVENTS);
  assertSound(databasePath(folder));
  assert.equal(readRows(databasePath(folder), 'SELECT * FROM events').length, EVENTS);
}

describe('a restore', () => {
  let file: string;
  before(async () => {
    file = await makeBackup({ events: EVENTS });
  });

  it('refuses a folder that holds data, and does not change it', async () => {
    const folder = await makeData({ events: 2 });
    await assertRefused(
      file,
      folder,
      /is not empty: it contains local-events\.db\. Set DATA_DIR to a folder that is /,
    );
    assert.equal(readRows(databasePath(folder), 'SELECT * FROM events').length, 2);
  });

  it('refuses a folder that holds other files, and adds nothing to it', async () => {
    const folder = temporaryFolder();
    const names = ['1', '2', '3', '4', '5'];
    for (const name of names) writeFileSync(join(folder, name), '');
    await assertRefused(file, folder, /is not empty: it contains 1, 2, 3, and 2 more\. /);
    assert.deepEqual(readdirSync(folder), names);
  });

  it('refuses a folder with only a write-ahead log, which would be mixed into the backup', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'local-events.db-wal'), '');
    await assertRefused(file, folder, /is not empty: it contains local-events\.db-wal\. /);
  });

  it('refuses a folder that another process has locked', async () => {
    const folder = temporaryFolder();
    const lock = holdFolder(folder);
    await assertRefused(file, folder, /is in use by another local-events process/);
    lock.release();
    await assertRestores(file, folder);
  });

  it('refuses a folder that is a file', () => assertRefused(file, file, /cannot be written \(ENOTDIR\)/));

  const files: [name: string, make: (path: string) => unknown, message: RegExp][] = [
    ['that does not exist', () => {}, /copy\.db cannot be read: ENOENT/],
    ['that is a folder', (path) => mkdirSync(path), /copy\.db cannot be read: it is not a file/],
    [
      'that is empty',
      (path) => writeFileSync(path, ''),
      /cannot be used\. It is not a local-events database/,
    ],
    [
      'of text',
      (path) => writeFileSync(path, 'text\n'.repeat(9_999)),
      /cannot be read: file is not a database/,
    ],
    [
      'that is a database of something else',
      (path) => execute(path, 'CREATE TABLE events (x); PRAGMA user_version = 99'),
      /cannot be used\. It is not a local-events database/,
    ],
    [
      'of a newer version',
      (path) => {
        copyFileSync(file, path);
        execute(path, 'PRAGMA user_version = 99');
      },
      /cannot be used\. The data was written by a newer version of local-events \(schema 99; /,
    ],
    [
      'of a version with other migrations',
      (path) => {
        copyFileSync(file, path);
        execute(path, "UPDATE migrations SET name = '0001-theirs' WHERE number = 1");
      },
      /cannot be used\. The data was written by another version of local-events: its migration 1 is 0001-theirs, /,
    ],
  ];
  for (const [name, make, message] of files) {
    it(`refuses a file ${name}, and creates no folder`, async () => {
      const path = join(temporaryFolder(), 'copy.db');
      const folder = join(temporaryFolder(), 'data');
      make(path);
      await assertRefused(path, folder, message);
      assert.ok(!existsSync(folder));
    });
  }

  it('refuses half a file, and then accepts the whole one', async () => {
    const half = join(temporaryFolder(), 'half.db');
    copyFileSync(file, half);
    truncateSync(half, Math.floor(statSync(file).size / 2));
    const folder = join(temporaryFolder(), 'data');
    await assertRefused(half, folder, /half\.db (?:is damaged|cannot be read): /);
    await assertRestores(file, folder);
  });
});
