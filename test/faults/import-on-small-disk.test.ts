// An import on a disk that gets full stops while there is room for the service, and says what to do. A start needs no more room than it
// states, also after an import whose events are not prepared for lists yet.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync, statfsSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { fileOf, importNew, NEW_AGENT, runFed, summaryOf, toLines } from '../cli/bulk.ts';
import { Client } from '../support/client.ts';
import { launchService } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';
import { fillDisk, mountSmallDisk } from '../support/small-disk.ts';

const MIB = 1_048_576;
const FLOOR_MB = 40;
/** About 1.5 KB each on disk. */
const DESCRIPTION = 'x'.repeat(1_000);

const eventsFor = (count: number) =>
  toLines(
    Array.from({ length: count }, (_, at) => ({
      title: `event ${at}`,
      start_at: new Date(Date.UTC(2040, 0, 1) + at * 60_000).toISOString(),
      timezone: 'Europe/Berlin',
      location_name: 'somewhere',
      lat: 52.5,
      lng: 13.4,
      event_type: 'talk',
      description: DESCRIPTION,
    })),
  );

const freeMb = (disk: string) => {
  const { bavail, bsize } = statfsSync(disk);
  return (bavail * bsize) / MIB;
};

/** Leaves this much of the disk free. Returns the file that takes the rest. */
function leaveFree(disk: string, bytes: number): string {
  const filler = fillDisk(disk);
  const { bsize } = statfsSync(disk);
  truncateSync(filler, (Math.ceil(statSync(filler).size / bsize) - Math.ceil(bytes / bsize)) * bsize);
  return filler;
}

describe('an import on a disk that gets full', { timeout: 300_000 }, () => {
  it('stops above MIN_FREE_DISK_MB, leaves a folder that starts and takes writes, and is continued', async (t) => {
    const disk = mountSmallDisk(t, 200 * 1_024);
    if (disk === undefined) return;
    const env = { DATA_DIR: join(disk, 'data'), MIN_FREE_DISK_MB: String(FLOOR_MB), MAX_MB_PER_AGENT: '0' };
    const lines = eventsFor(95_000);
    const stopped = await runFed(['import', '-', ...NEW_AGENT], env, lines);
    assert.equal(stopped.code, 1, stopped.stderr);
    assert.match(
      stopped.stderr,
      /The import failed: the disk of the data folder \S+ is nearly full: \d+ MB are free, 40 MB must stay free \(MIN_FREE_DISK_MB\), and the import needs \d+ MB to go on\. Free some space\. Imported events are kept\. To continue, run it again with --key-stdin\.\n$/,
    );
    assert.doesNotMatch(stopped.stderr, /^ {4}at /m);
    assert.ok(freeMb(disk) >= FLOOR_MB, `${freeMb(disk)} MB are free`);
    const { imported } = summaryOf({ ...stopped, stderr: stopped.stderr.split('The import failed')[0]! });
    assert.ok(imported > 1_000, stopped.stderr);

    const service = await launchService(env);
    const agent = new Client(service.url).with({ 'x-api-key': stopped.stdout.trim() });
    const { agent: me } = (await agent.get('/v1/agents/me')).body;
    assert.equal(me.event_count, imported);
    assert.equal((await agent.get('/v1/agents/me/events')).body.total, imported);
    await agent.create();
    assert.ok(freeMb(disk) >= FLOOR_MB, `${freeMb(disk)} MB are free`);
    service.child.kill('SIGINT');
    await service.ended;

    const unable = await runFed(['import', '-', ...NEW_AGENT], { ...env, MIN_FREE_DISK_MB: '150' }, lines);
    assert.equal(unable.code, 1);
    assert.match(
      unable.stderr,
      /^The import cannot begin: the disk .*150 MB must stay free \(MIN_FREE_DISK_MB\)/,
    );

    execFileSync('mount', ['-o', 'remount,size=400m', disk]);
    const input = `${stopped.stdout.trim()}\n`;
    const continued = await runFed(['import', fileOf(lines), '--key-stdin'], env, input);
    assert.equal(continued.code, 0, continued.stderr);
    assert.deepEqual(summaryOf(continued), {
      end: 'done',
      read: 95_000,
      imported: 95_000 - imported,
      existing: imported,
      refused: 0,
    });
    const orders = new DatabaseSync(join(env.DATA_DIR, 'local-events.db'), { readOnly: true });
    const { count } = orders.prepare('SELECT count(*) AS count FROM event_order').get()!;
    orders.close();
    assert.equal(count, 95_001); // with the created one: the start has nothing left to do
  });
});

describe('an import on a disk that is full, or has nearly no room', () => {
  const lines = eventsFor(3_000);
  for (const { freeBytes, says } of [
    { freeBytes: 0, says: /^The disk of the data folder \S+ is full, or nearly so: .*Free some space/ },
    {
      freeBytes: 16 * 1_024,
      says: /^The disk of the data folder \S+ is full, or nearly so: .*Free some space/,
    },
    {
      freeBytes: 2 * MIB,
      says: /The import failed: database or disk is full\. Free some space\. Imported events are kept\./,
    },
  ]) {
    it(`says so, without MIN_FREE_DISK_MB: ${freeBytes / 1_024} KiB free`, async (t) => {
      const disk = mountSmallDisk(t, 8 * 1_024);
      if (disk === undefined) return;
      leaveFree(disk, freeBytes);
      const env = { DATA_DIR: join(disk, 'data'), MIN_FREE_DISK_MB: '0' };
      const { code, stderr } = await runFed(['import', '-', ...NEW_AGENT], env, lines);
      assert.equal(code, 1, stderr);
      assert.match(stderr, says);
      assert.doesNotMatch(stderr, /^ {4}at /m);
    });
  }
});

describe('a start after an import, on a disk with little room', { timeout: 300_000 }, () => {
  it('needs no more room than it states', async (t) => {
    const disk = mountSmallDisk(t, 96 * 1_024);
    if (disk === undefined) return;
    const original = join(temporaryFolder(), 'data');
    const { key } = await importNew(eventsFor(20_000), { DATA_DIR: original });
    const database = new DatabaseSync(join(original, 'local-events.db'));
    database.exec('DELETE FROM event_order; VACUUM'); // as a move leaves it, and imports of earlier versions
    database.close();
    const folder = join(disk, 'data');
    for (const freeBytes of [1.1, 3, 5, 8].map((mb) => mb * MIB)) {
      cpSync(original, folder, { recursive: true });
      const filler = leaveFree(disk, freeBytes);
      const service = await launchService({ DATA_DIR: folder, MIN_FREE_DISK_MB: '0' });
      const agent = new Client(service.url).with({ 'x-api-key': key });
      assert.equal((await agent.get('/v1/agents/me/events')).body.total, 20_000);
      rmSync(filler);
      await agent.create();
      service.child.kill('SIGINT');
      assert.equal((await service.ended).code, 0);
      rmSync(folder, { recursive: true });
    }
  });
});
