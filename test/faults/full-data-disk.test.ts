// A start while the disk of the data folder is full or nearly so: one message that says so, whatever SQLite would say.
import assert from 'node:assert/strict';
import { readdirSync, rmSync, statfsSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pino } from 'pino';
import { readConfig } from '../../src/config.ts';
import { startService } from '../../src/service.ts';
import { run } from '../support/process.ts';
import { startTestService } from '../support/service.ts';
import { size } from '../support/sizes.ts';
import { fillDisk, mountSmallDisk } from '../support/small-disk.ts';

describe('a start on a disk that is nearly full', { timeout: 600_000 }, () => {
  // On a new folder, SQLite would say "disk I/O error" with 16 and 32 KiB, and work with 256.
  for (const kilobytes of size([16], [0, 4, 8, 16, 32, 64, 128, 256, 512, 960]))
    for (const isNew of [true, false]) {
      it(`says so: ${kilobytes} KiB free, ${isNew ? 'a new' : 'an existing'} folder`, async (t) => {
        const disk = mountSmallDisk(t, 8_192);
        if (disk === undefined) return;
        const folder = join(disk, 'data');
        if (!isNew) await (await startTestService({ DATA_DIR: folder })).close();
        const filler = fillDisk(disk);
        const { bsize, bavail } = statfsSync(disk);
        assert.equal(bavail, 0);
        const blocks = Math.ceil(statSync(filler).size / bsize) - Math.ceil((kilobytes * 1_024) / bsize);
        truncateSync(filler, blocks * bsize);
        assert.equal(statfsSync(disk).bavail * bsize, kilobytes * 1_024);

        const { code, signal, stderr } = await run(['serve'], { DATA_DIR: folder, PORT: '0' });
        assert.deepEqual({ code, signal }, { code: 1, signal: null });
        assert.equal(
          stderr,
          `The disk of the data folder ${folder} is full, or nearly so: a start needs 1 MiB. ` +
            'Free some space, or set DATA_DIR to another folder.\n',
        );
        rmSync(filler);
        const service = await startTestService({ DATA_DIR: folder, MIN_FREE_DISK_MB: '0' });
        await (await service.newAgent()).create();
        assert.deepEqual(
          readdirSync(folder).filter((name) => name.includes('space')),
          [],
        );
        await service.close();
      });
    }
});

describe('a disk that gets full during a start', () => {
  it('ends the start with a plain sentence', async (t) => {
    const disk = mountSmallDisk(t, 8_192);
    if (disk === undefined) return;
    const config = readConfig({ DATA_DIR: join(disk, 'data'), PORT: '0', MIN_FREE_DISK_MB: '0' });
    // Everything is loaded, and the first keys are not written yet.
    const onProgress = () => fillDisk(disk);
    await assert.rejects(startService(config, { logger: pino({ level: 'silent' }), onProgress }), {
      name: 'StartError',
      message:
        'The service cannot start, because its store failed: database or disk is full. Free some space, and start again.',
    });
  });
});
