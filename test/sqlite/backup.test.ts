// Backup files: they show one moment whatever is written meanwhile, are private and checked, and are removed if they fail.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { backUp, restore } from '../../src/sqlite/files/backup.ts';
import { databasePath, restoringPath } from '../../src/sqlite/files/data-folder.ts';
import { temporaryFolder } from '../support/service.ts';
import { makeBackup, makeData, UNWATCHED } from './data.ts';
import { assertSound, execute, readRows } from './files.ts';

/** A path in a new folder; the file does not exist yet. */
function newFile(): { folder: string; file: string } {
  const folder = temporaryFolder();
  return { folder, file: join(folder, 'copy.db') };
}

const countSettings = (file: string): number =>
  readRows(file, 'SELECT count(*) AS count FROM settings')[0].count;

describe('a backup', () => {
  it('ends although others keep writing, and holds the data of the moment it began', async () => {
    const data = await makeData({ megabytes: 40 });
    const { file } = newFile();
    const before = countSettings(databasePath(data));
    const writer = new DatabaseSync(databasePath(data));
    let steps = 0;
    await backUp(data, file, {
      ...UNWATCHED,
      onProgress: () => {
        writer.exec(`INSERT INTO settings (name, value) VALUES ('written at step ${++steps}', '')`);
        assert.ok(steps < 100, 'it keeps starting over');
      },
    });
    writer.close();
    assert.ok(steps > 5);
    assertSound(file);
    assert.equal(countSettings(file), before);
    assert.equal(countSettings(databasePath(data)), before + steps);
  });

  it('reports its progress up to the end', async () => {
    const { file } = newFile();
    const seen: [done: number, total: number][] = [];
    await backUp(await makeData({ megabytes: 20 }), file, {
      ...UNWATCHED,
      onProgress: (done, total) => seen.push([done, total]),
    });
    const { size } = statSync(file);
    assert.ok(seen.length > 2);
    assert.ok(seen.every(([done, total], at) => total === size && done > (seen[at - 1]?.[0] ?? 0)));
    assert.deepEqual(seen.at(-1), [size, size]);
  });

  it('is a single file that only its owner may read, whatever the umask', async () => {
    const data = await makeData();
    const { folder, file } = newFile();
    const umask = process.umask(0);
    const modes = new Set<string>();
    const note = () => {
      for (const name of readdirSync(folder))
        modes.add((statSync(join(folder, name)).mode & 0o777).toString(8));
    };
    const summary = await backUp(data, file, { ...UNWATCHED, onProgress: note });
    process.umask(umask);
    note();
    assert.deepEqual([...modes], ['600']);
    assert.deepEqual(readRows(file, 'PRAGMA journal_mode'), [{ journal_mode: 'delete' }]);
    assert.deepEqual(readdirSync(folder), ['copy.db']);
    const newestAt = '2031-05-01T12:00:00.000Z';
    const schema = readRows(file, 'PRAGMA user_version')[0].user_version;
    assert.deepEqual(summary, { schema, events: 3, agents: 1, newestAt });
  });

  for (const moment of ['copied', 'checked']) {
    it(`leaves nothing if it is stopped while it is ${moment}`, async () => {
      const { folder, file } = newFile();
      const stop = new AbortController();
      const onProgress = (done: number, total: number) => {
        assert.deepEqual(readdirSync(folder).includes('copy.db'), false);
        if (moment === 'copied' || done === total) stop.abort();
      };
      const data = await makeData({ megabytes: 20 });
      await assert.rejects(backUp(data, file, { signal: stop.signal, onProgress }), { name: 'AbortError' });
      assert.deepEqual(readdirSync(folder), []);
    });
  }
});

describe('damaged data', () => {
  const damages: [name: string, damage: (path: string) => Promise<void> | void, reason: RegExp][] = [
    [
      'with a row that breaks a constraint',
      (path) => execute(path, "PRAGMA ignore_check_constraints = ON; UPDATE agents SET tier = 'x'"),
      /is damaged: CHECK constraint failed in agents\. Nothing was written\. Use an older backup\.$/,
    ],
    [
      'with events that have no owner',
      (path) => execute(path, 'PRAGMA foreign_keys = OFF; DELETE FROM agents'),
      /is damaged: a row in \w+ refers to a missing row in agents\. /,
    ],
    ['with an overwritten page', spoilPage, /is damaged: |malformed/],
  ];
  for (const [name, damage, reason] of damages) {
    it(`${name} is not backed up`, async () => {
      const data = await makeData({ events: 2_000 });
      await damage(databasePath(data));
      const { folder, file } = newFile();
      await assert.rejects(backUp(data, file, UNWATCHED), { name: 'StartError', message: reason });
      assert.deepEqual(readdirSync(folder), []);
    });

    it(`${name} is not restored if the damage came after the backup`, async () => {
      const file = await makeBackup({ events: 2_000 });
      await damage(file);
      const folder = temporaryFolder();
      await assert.rejects(restore(file, folder, UNWATCHED), { name: 'StartError', message: reason });
      assert.ok(!existsSync(databasePath(folder)) || statSync(databasePath(folder)).size === 0);
      assert.ok(!existsSync(restoringPath(folder)));
    });
  }
});

/** Overwrites a page in the middle. */
async function spoilPage(path: string): Promise<void> {
  execute(path, 'PRAGMA wal_checkpoint(TRUNCATE)');
  const file = await open(path, 'r+');
  const { size } = await file.stat();
  await file.write(Buffer.alloc(4_096, 0xa5), 0, 4_096, Math.floor(size / 8_192) * 4_096);
  await file.close();
}
