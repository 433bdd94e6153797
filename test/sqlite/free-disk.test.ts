// The floor of free disk space: what is refused below it, what still works, and when it is reported.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { AppError } from '../../src/domain/errors.ts';
import { FreeDisk, measureDisk } from '../../src/sqlite/free-disk.ts';
import { SqliteStore } from '../../src/sqlite/store.ts';
import {
  addAgent,
  addEvent,
  assertRecord,
  auditOf,
  deleteOne,
  NOW_MS,
  newAgentRow,
  newEventRow,
  newKey,
  search,
} from '../store/rows.ts';
import { assertError, newEvent } from '../support/client.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';

const MB = 1_048_576;

/** A disk whose free space the test sets, and the changes that were reported. */
function diskOf(t: TestContext, totalMb: number, floorMb?: number) {
  const space = { freeMb: totalMb, reusableMb: 0, isBroken: false };
  const reported: string[] = [];
  const disk = new FreeDisk({
    floorBytes: floorMb === undefined ? undefined : floorMb * MB,
    onChange: (isLow, { freeBytes }, floorBytes) =>
      reported.push(`${isLow ? 'low' : 'enough'} ${freeBytes / MB} ${floorBytes / MB}`),
    measure: async () => {
      if (space.isBroken) throw new Error('no such device');
      const { freeMb, reusableMb } = space;
      return { freeBytes: freeMb * MB, reusableBytes: reusableMb * MB, totalBytes: totalMb * MB };
    },
  });
  t.after(() => disk.close());
  const set = async (freeMb: number) => {
    space.freeMb = freeMb;
    await disk.update();
    return disk.findRefusal() !== undefined;
  };
  return { disk, set, reported, space };
}

describe('free disk space', () => {
  it('refuses below the floor, resumes a tenth above it, and reports each change once', async (t) => {
    const { set, reported } = diskOf(t, 10_000, 200);
    assert.deepEqual(
      [await set(200), await set(199), await set(50), await set(219)],
      [false, true, true, true],
    );
    assert.deepEqual([await set(220), await set(200), await set(199)], [false, false, true]);
    assert.deepEqual(reported, ['low 199 200', 'enough 220 200', 'low 199 200']);
  });

  it('counts what is free in the file, but keeps half of the floor on the disk', async (t) => {
    const { set, space } = diskOf(t, 10_000, 200);
    space.reusableMb = 90;
    assert.deepEqual([await set(110), await set(109)], [false, true]);
    space.reusableMb = 5_000;
    assert.deepEqual(
      [await set(109), await set(110), await set(100), await set(99)],
      [true, false, false, true],
    );
  });

  it('keeps 500 MB free by default, and a twentieth of a small disk', async (t) => {
    const large = diskOf(t, 40_000);
    assert.deepEqual([await large.set(500), await large.set(499)], [false, true]);
    const small = diskOf(t, 1_000);
    assert.deepEqual([await small.set(50), await small.set(49)], [false, true]);
  });

  it('never refuses with a floor of 0', async (t) => {
    const { set, reported } = diskOf(t, 1_000, 0);
    assert.deepEqual([await set(0), reported], [false, []]);
  });

  it('stays as it is while the free space cannot be read', async (t) => {
    const { set, space } = diskOf(t, 1_000, 100);
    space.isBroken = true;
    assert.equal(await set(10), false);
    space.isBroken = false;
    assert.equal(await set(10), true);
    space.isBroken = true;
    assert.equal(await set(900), true);
  });

  it('reads the space of the volume of a folder', async () => {
    const space = await measureDisk(temporaryFolder(), async () => 7);
    assert.ok(space.freeBytes > 0 && space.freeBytes <= space.totalBytes);
    assert.equal(space.reusableBytes, 7);
  });
});

describe('a store on a disk that is nearly full', () => {
  it('refuses what needs space, serves the rest, and resumes by itself', async (t) => {
    let freeBytes = 900 * MB;
    const changes = [Promise.withResolvers<boolean>(), Promise.withResolvers<boolean>()];
    let changed = 0;
    const store = await SqliteStore.open({
      folder: temporaryFolder(),
      cacheBytes: 0,
      minFreeBytes: 100 * MB,
      measureDisk: async () => ({ freeBytes, reusableBytes: 0, totalBytes: 1_000 * MB }),
      onDiskChange: (isLow) => changes[changed++]!.resolve(isLow),
    });
    t.after(() => store.close());
    const { agent, key } = await addAgent(store);
    const [row, other] = [await addEvent(store, agent), await addEvent(store, agent)];
    freeBytes = 50 * MB;
    assert.equal(await changes[0]!.promise, true);
    const refused = (error: Error) =>
      error instanceof AppError &&
      error.code === 'UNAVAILABLE' &&
      /disk .* nearly full.* deletes still work/.test(error.message);
    await assert.rejects(store.createEvent(newEventRow(agent), 0), refused);
    await assert.rejects(store.replaceEvent({ ...row, version: 2 }), refused);
    await assert.rejects(store.addAgent(newAgentRow(), newKey()), refused);
    await store.check();
    assertRecord(await store.findEvent(row.event_id), row);
    assert.equal((await store.nearby(search(), NOW_MS)).total, 2);
    assert.equal(await store.rotateKey(agent.agent_id, key.hash, newKey(), NOW_MS, NOW_MS), true);
    assert.equal(await store.deleteEvent(other.event_id, agent.agent_id), true);
    assert.equal(await deleteOne(store, row.event_id, auditOf('delete_event', row.event_id)), true);
    freeBytes = 500 * MB;
    assert.equal(await changes[1]!.promise, false);
    await addEvent(store, agent);
  });
});

describe('a service on a disk with less free space than MIN_FREE_DISK_MB', () => {
  it('answers writes with a 503 that says so, and logs it once', async (t) => {
    const folder = temporaryFolder();
    const before = await startTestService({ DATA_DIR: folder });
    const agent = await before.newAgent();
    const { event_id } = await agent.create();
    await before.close();
    const service = await startTestService(
      { DATA_DIR: folder, MIN_FREE_DISK_MB: '1000000000' },
      { until: t },
    );
    const moved = service.client.with(agent.headers);
    const answers = [
      await moved.post('/v1/events', newEvent()),
      await moved.patch(`/v1/events/${event_id}`, { cost: 'free' }),
      await service.client.post('/v1/auth/register', { email: 'a@example.com', agent_name: 'late' }),
    ];
    for (const answer of answers) {
      assertError(answer, 503, 'UNAVAILABLE');
      assert.match(answer.body.error.message, /The disk of the service is nearly full.*deletes still work/);
      assert.equal(answer.headers.get('retry-after'), '60');
    }
    assert.equal((await service.client.get('/health')).status, 200);
    assert.equal((await moved.get(`/v1/events/${event_id}`)).status, 200);
    assert.equal((await moved.delete(`/v1/events/${event_id}`)).status, 204);
    const lines = service.log.filter(({ msg }) =>
      /^The disk of DATA_DIR is nearly full: \d+ MB/.test(String(msg)),
    );
    assert.equal(lines.length, 1);
    assert.deepEqual(
      service.log.filter(({ level, msg }) => Number(level) >= 50 && !/nearly full: /.test(String(msg))),
      [],
      'refused requests are not logged as faults',
    );
  });
});
