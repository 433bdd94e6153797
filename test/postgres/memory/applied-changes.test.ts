// What a node remembers of the changes that it applied last.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { AppliedChanges } from '../../../src/postgres/memory/applied-changes.ts';

const change = (xid: bigint, number: number, stamp: string) => ({ xid, eventId: `event ${number}`, stamp });

it('keeps the order of a large delete, of which it knows one stamp, and what came after it', () => {
  const applied = new AppliedChanges();
  const deleted = Array.from({ length: 60_000 }, (_, number) => number);
  const eventIds = Buffer.from(deleted.map((number) => `event ${number}`).join(','));
  applied.addDeletes([{ xid: 5n, count: deleted.length, eventIds, stamp: 'least' }], 0);
  const later = change(6n, 60_000, 'later');
  applied.add([later], 1_000);
  const log = deleted.map((number) => change(5n, number, number === 7 ? 'least' : `stamp ${number}`));
  applied.replace([...log, later], 2_000);
  assert.deepEqual(applied.all().at(-1), { xid: 6n, eventId: 'event 60000' });
  assert.ok(applied.commonHistory().some((change) => change.stamp === 'later'));
});

it('takes changes of a transaction with the ID of a lost one for new', () => {
  const applied = new AppliedChanges(10);
  applied.add([change(5n, 1, 'lost')], 0);
  applied.replace([change(5n, 1, 'other')], 2_000);
  applied.add([change(6n, 2, 'next')], 2_005);
  assert.deepEqual(
    applied.commonHistory().map(({ stamp }) => stamp),
    ['other', 'next'],
  );
});

it('remembers every event of the last large delete, and forgets older changes', () => {
  const applied = new AppliedChanges();
  applied.add([change(4n, 0, 'first')], 0);
  const eventIds = Array.from({ length: 60_000 }, (_, number) => `event ${number}`);
  const deletes = { count: eventIds.length, eventIds: Buffer.from(eventIds.join(',')) };
  applied.addDeletes([{ ...deletes, xid: 5n, stamp: 'a' }], 1);
  applied.addDeletes([{ ...deletes, xid: 6n, stamp: 'b' }], 2);
  assert.deepEqual(
    applied.all(),
    eventIds.map((eventId) => ({ xid: 6n, eventId })),
  );
  assert.deepEqual(
    applied.commonHistory().map(({ xid, stamp }) => ({ xid, stamp })),
    [{ xid: 6n, stamp: 'b' }],
  );
});

it('keeps changes of five minutes: at least 1,000, and a little more than 50,000 at most', () => {
  const applied = new AppliedChanges();
  let number = 0;
  const add = (count: number, nowMs: number) => {
    const changes = Array.from({ length: count }, () => change(5n, number++, `stamp ${number}`));
    applied.add(changes, nowMs);
    return applied.all();
  };
  assert.equal(add(999, 0).length, 999);
  assert.equal(add(1, 400_000).length, 1_000);
  assert.equal(add(5_000, 800_000).length, 5_000);
  assert.equal(add(30_000, 1_000_000).length, 35_000);
  assert.equal(add(17_000, 1_000_001).length, 52_000);
  const kept = add(10_000, 1_000_002);
  assert.equal(kept.length, 50_000);
  assert.deepEqual([kept[0]!.eventId, kept.at(-1)!.eventId], ['event 13000', 'event 62999']);
});
