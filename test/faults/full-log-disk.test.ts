// The disk of the log is full: the service goes on, and logs again when there is room.
import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { BIN, launchCommand, untilPrinted } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';
import { fillDisk, mountSmallDisk } from '../support/small-disk.ts';

it('goes on answering while the disk of its log is full, and logs again when there is room', async (t) => {
  const disk = mountSmallDisk(t, 256);
  const log = disk === undefined ? '/dev/full' : join(disk, 'log');
  const running = launchCommand('sh', ['-c', 'exec "$0" "$1" serve > "$LOG"', process.execPath, BIN], {
    env: { LOG: log, PORT: '0', DATA_DIR: temporaryFolder() },
  });
  t.after(() => running.child.kill('SIGKILL'));
  await untilPrinted(running, ({ stderr }) => /^ {2}data /m.test(stderr));
  const url = /^ {2}url {6}(\S+)$/m.exec(running.output().stderr)![1]!;
  const ask = async (times: number) => {
    for (let time = 0; time < times; time++) assert.equal((await fetch(`${url}/robots.txt`)).status, 200);
  };
  await ask(1);
  const filler = disk && fillDisk(disk);
  await ask(200); // several times what is buffered
  await sleep(1_000);
  await ask(200);
  if (filler !== undefined) rmSync(filler);
  await ask(50);
  running.child.kill('SIGTERM');
  const { code } = await running.ended;
  assert.equal(code, 0);
  if (disk === undefined) return;
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
  assert.match(lines.at(-1)!, /"msg":"stopped"/);
  assert.ok(
    lines.filter((line) => line.includes('"route":"/robots.txt"')).length > 50,
    `${lines.length} lines`,
  );
});
