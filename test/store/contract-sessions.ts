// Store contract: sessions that ended before they expired.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Store } from '../../src/domain/store.ts';
import { HOUR_MS, NOW_MS } from './rows.ts';

export function sessionContract(store: () => Store): void {
  const LATER_MS = NOW_MS + HOUR_MS;
  const end = (sessionId: string, expiresMs = LATER_MS, nowMs = NOW_MS) =>
    store().endSession(sessionId, expiresMs, nowMs);
  const areEnded = (...ids: string[]) => Promise.all(ids.map((id) => store().isSessionEnded(id)));

  it('reports a session as ended once it has ended, and no other', async () => {
    await end('first');
    assert.deepEqual(await areEnded('first', 'First', 'other', ''), [true, false, false, false]);
  });

  it('allows a session to end twice, and several to end at once', async () => {
    await end('second');
    await Promise.all(['second', 'third', 'third', 'fourth'].map((id) => end(id)));
    assert.deepEqual(await areEnded('second', 'third', 'fourth'), [true, true, true]);
  });

  it('remembers an ended session until its expiry, to the millisecond', async () => {
    await end('short', LATER_MS - 1);
    await end('long', LATER_MS + 1);
    await end('exact', LATER_MS);
    await end('before', LATER_MS + HOUR_MS, LATER_MS - 1);
    assert.deepEqual(await areEnded('short', 'exact', 'long'), [false, true, true]);
    await end('at', LATER_MS + HOUR_MS, LATER_MS);
    assert.deepEqual(await areEnded('exact', 'long', 'before', 'at'), [false, true, true, true]);
  });

  it('does not record the end of a session that has already expired', async () => {
    await end('late', NOW_MS, NOW_MS);
    assert.deepEqual(await areEnded('late'), [false]);
  });

  it('keeps the later of two expiry times', async () => {
    await end('again', LATER_MS + 2 * HOUR_MS, LATER_MS);
    await end('again', LATER_MS + HOUR_MS, LATER_MS);
    await end('other', LATER_MS + 3 * HOUR_MS, LATER_MS + HOUR_MS);
    assert.deepEqual(await areEnded('again'), [true]);
  });

  it('gives each subject the epoch that was set last, and none at first', async () => {
    const epochs = () =>
      Promise.all(['ada', 'Ada', 'bob', ''].map((subject) => store().findSessionEpoch(subject)));
    assert.deepEqual(await epochs(), ['', '', '', '']);
    await store().setSessionEpoch('ada', 'one');
    await store().setSessionEpoch('bob', 'other');
    assert.deepEqual(await epochs(), ['one', '', 'other', '']);
    await store().setSessionEpoch('ada', 'two');
    assert.deepEqual(await epochs(), ['two', '', 'other', '']);
  });
}
