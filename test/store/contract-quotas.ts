// Store contract: quotas, in fixed windows of one hour that start with their first request.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Store } from '../../src/domain/store.ts';
import { HOUR_MS, NOW_MS } from './rows.ts';

export function quotaContract(store: () => Store): void {
  it('counts down within a window that starts with the first request', async () => {
    const spend = (nowMs: number) => store().spend('count down', 3, 1, nowMs);
    const resetMs = NOW_MS + HOUR_MS;
    assert.deepEqual(await spend(NOW_MS), { allowed: true, remaining: 2, resetMs });
    assert.deepEqual(await spend(NOW_MS + 1), { allowed: true, remaining: 1, resetMs });
    assert.deepEqual(await spend(NOW_MS + HOUR_MS / 2), { allowed: true, remaining: 0, resetMs });
    assert.deepEqual(await spend(NOW_MS + HOUR_MS / 2), { allowed: false, remaining: 0, resetMs });
    assert.deepEqual(await spend(resetMs - 1), { allowed: false, remaining: 0, resetMs });
  });

  it('neither spends nor starts a window when it only peeks', async () => {
    const spend = (cost: 0 | 1, nowMs: number) => store().spend('look', 1, cost, nowMs);
    const unused = { allowed: true, remaining: 1, resetMs: NOW_MS + HOUR_MS };
    assert.deepEqual(await spend(0, NOW_MS), unused);
    assert.deepEqual(await spend(0, NOW_MS), unused);
    const used = { remaining: 0, resetMs: NOW_MS + 5 + HOUR_MS };
    assert.deepEqual(await spend(1, NOW_MS + 5), { allowed: true, ...used });
    assert.deepEqual(await spend(0, NOW_MS + 6), { allowed: false, ...used });
    assert.deepEqual(await spend(0, used.resetMs), {
      ...{ allowed: true, remaining: 1, resetMs: used.resetMs + HOUR_MS },
    });
  });

  it('takes a cost above 1 if anything is left, even if that exceeds the limit', async () => {
    const spend = (cost: number, nowMs = NOW_MS) => store().spend('large cost', 1_000, cost, nowMs);
    const resetMs = NOW_MS + HOUR_MS;
    assert.deepEqual(await spend(300), { allowed: true, remaining: 700, resetMs });
    assert.deepEqual(await spend(1), { allowed: true, remaining: 699, resetMs });
    assert.deepEqual(await spend(650), { allowed: true, remaining: 49, resetMs });
    assert.deepEqual(await spend(0), { allowed: true, remaining: 49, resetMs });
    assert.deepEqual(await spend(500), { allowed: true, remaining: 0, resetMs });
    for (const cost of [1, 0, 900]) {
      assert.deepEqual(await spend(cost), { allowed: false, remaining: 0, resetMs });
    }
    const later = { allowed: true, remaining: 600, resetMs: resetMs + HOUR_MS };
    assert.deepEqual(await spend(400, resetMs), later);
  });

  it('takes nearly all of the limit when many costs arrive at once', async () => {
    const spend = () => store().spend('many costs', 10_000, 70, NOW_MS);
    const spent = await Promise.all(Array.from({ length: 400 }, spend));
    const allowed = spent.filter((quota) => quota.allowed).length;
    assert.equal(allowed, Math.ceil(10_000 / 70));
  });

  it('counts each bucket separately', async () => {
    await store().spend('mine', 1, 1, NOW_MS);
    assert.equal((await store().spend('mine', 1, 1, NOW_MS)).allowed, false);
    assert.equal((await store().spend('yours', 1, 1, NOW_MS)).allowed, true);
  });

  it('applies a limit that changes within the window', async () => {
    const spend = (limit: number) => store().spend('change', limit, 1, NOW_MS);
    const resetMs = NOW_MS + HOUR_MS;
    for (let spent = 0; spent < 5; spent++) await spend(10);
    assert.deepEqual(await spend(3), { allowed: false, remaining: 0, resetMs });
    assert.deepEqual(await spend(10), { allowed: true, remaining: 4, resetMs });
  });

  it('keeps its count when the limit of a large quota changes', async () => {
    const spend = (limit: number) => store().spend('change of a large one', limit, 1, NOW_MS);
    const resetMs = NOW_MS + HOUR_MS;
    assert.deepEqual(await spend(1_000), { allowed: true, remaining: 999, resetMs });
    assert.deepEqual(await spend(100), { allowed: true, remaining: 98, resetMs });
    assert.deepEqual(await spend(2), { allowed: false, remaining: 0, resetMs });
    assert.deepEqual(await spend(3), { allowed: true, remaining: 0, resetMs });
    assert.deepEqual(await spend(2_000), { allowed: true, remaining: 1_996, resetMs });
    assert.deepEqual(await store().spend('change of a large one', 500, 0, NOW_MS), {
      ...{ allowed: true, remaining: 496, resetMs },
    });
  });

  it('allows exactly the limit when 200 requests arrive at once', async () => {
    const spent = await Promise.all(Array.from({ length: 200 }, () => store().spend('rush', 30, 1, NOW_MS)));
    const allowed = spent.filter((quota) => quota.allowed);
    const remaining = allowed.map((quota) => quota.remaining).sort((a, b) => b - a);
    assert.deepEqual(
      remaining,
      Array.from({ length: 30 }, (_, at) => 29 - at),
    );
    assert.ok(spent.every((quota) => quota.resetMs === NOW_MS + HOUR_MS));
  });

  // The last one, because a store forgets windows that ended long before the latest time it has seen.
  it('starts a new window with the first request at or after the reset', async () => {
    const spend = (nowMs: number) => store().spend('reset', 1, 1, nowMs);
    await spend(NOW_MS);
    const atReset = NOW_MS + HOUR_MS;
    assert.deepEqual(await spend(atReset), { allowed: true, remaining: 0, resetMs: atReset + HOUR_MS });
    const later = atReset + 5 * HOUR_MS + 7;
    assert.deepEqual(await spend(later), { allowed: true, remaining: 0, resetMs: later + HOUR_MS });
    assert.deepEqual(await spend(later + 1), { allowed: false, remaining: 0, resetMs: later + HOUR_MS });
  });
}
