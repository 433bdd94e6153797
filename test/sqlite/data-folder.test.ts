// The data folder: private to its owner, and held by one process at a time.
import assert from 'node:assert/strict';
import fs, { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { StartError } from '../../src/domain/errors.ts';
import { holdFolder } from '../../src/sqlite/files/data-folder.ts';
import { launchService, run } from '../support/process.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

/** Without a umask, new files are open to everybody unless the service restricts them. */
async function withoutUmask<T>(work: () => Promise<T>): Promise<T> {
  const before = process.umask(0);
  try {
    return await work();
  } finally {
    process.umask(before);
  }
}

describe('the data folder', () => {
  it('and its files are accessible to their owner only, whatever the umask', async () => {
    const folder = join(temporaryFolder(), 'a', 'b');
    await withoutUmask(async () => {
      const service = await startTestService({ DATA_DIR: folder });
      await (await service.newAgent()).create();
      const files = readdirSync(folder);
      assert.ok(files.includes('local-events.db') && files.includes('local-events.db-wal'), files.join());
      for (const file of files) assert.equal(modeOf(join(folder, file)), '600', file);
      assert.equal(modeOf(folder), '700');
      await service.close();
    });
  });

  it('is on disk with the folders above it before anything is written to it', (t) => {
    const parent = temporaryFolder();
    const synced: number[] = [];
    const { fsyncSync } = fs;
    t.mock.method(fs, 'fsyncSync', (descriptor: number) => {
      synced.push(fs.fstatSync(descriptor).ino);
      fsyncSync(descriptor);
    });
    syncBuiltinESMExports();
    t.after(() => {
      t.mock.reset();
      syncBuiltinESMExports();
    });
    holdFolder(join(parent, 'a', 'b')).release();
    assert.deepEqual(
      synced,
      [parent, join(parent, 'a')].map((path) => statSync(path).ino),
    );
  });

  it('becomes private if it already exists and is empty', () => {
    const folder = join(temporaryFolder(), 'data');
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    holdFolder(folder).release();
    assert.equal(modeOf(folder), '700');
  });

  it('keeps its mode if it holds other files; the files of the service become private anyway', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'other'), '');
    writeFileSync(join(folder, 'local-events.db'), '');
    chmodSync(join(folder, 'local-events.db'), 0o666);
    chmodSync(folder, 0o755);
    holdFolder(folder).release();
    assert.equal(modeOf(folder), '755');
    assert.equal(modeOf(join(folder, 'local-events.db')), '600');
  });

  it('is refused at once where the system allows no folder', () => {
    assert.throws(() => holdFolder('/proc/nowhere/below'), { name: 'StartError' });
  });

  it('can be locked again after it was released', () => {
    const folder = temporaryFolder();
    const first = holdFolder(folder);
    assert.throws(() => holdFolder(folder), StartError);
    first.release();
    holdFolder(folder).release();
  });

  it('stays locked for other processes after this one tried to lock it twice', async () => {
    const folder = temporaryFolder();
    const held = holdFolder(folder);
    assert.throws(() => holdFolder(folder), StartError);
    const { code, stderr } = await run(['serve'], { PORT: '0', DATA_DIR: folder });
    held.release();
    assert.equal(code, 1);
    assert.match(stderr, /in use by another/);
  });

  it('is free as soon as the process that locked it is killed', async () => {
    const folder = temporaryFolder();
    const first = await launchService({ DATA_DIR: folder });
    first.child.kill('SIGKILL');
    await first.ended;
    const second = await launchService({ DATA_DIR: folder });
    second.child.kill('SIGTERM');
    assert.equal((await second.ended).code, 0);
  });
});
