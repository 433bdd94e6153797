// The memory of the quotas, which the store contract cannot see: unknown clients cannot fill it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QuotaWindows } from '../../src/sqlite/quota-windows.ts';

const HOUR_MS = 3_600_000;

describe('the quota windows', () => {
  it('keep 200,000 buckets and drop the oldest for a new one', () => {
    const windows = new QuotaWindows();
    for (let number = 0; number < 200_000; number++) windows.spend(`bucket ${number}`, 1, 1, 0);
    assert.equal(windows.spend('bucket 0', 1, 1, 1).allowed, false);
    windows.spend('one more', 1, 1, 1);
    assert.equal(windows.spend('bucket 0', 1, 0, 1).allowed, true);
    assert.equal(windows.spend('bucket 1', 1, 0, 1).allowed, false);
  });

  it('keep a bucket whose window still runs when others end', () => {
    const windows = new QuotaWindows();
    windows.spend('ended', 1, 1, 0);
    windows.spend('running', 1, 1, 10);
    windows.spend('new', 1, 1, HOUR_MS);
    assert.equal(windows.spend('running', 1, 1, HOUR_MS).allowed, false);
    assert.equal(windows.spend('new', 1, 1, HOUR_MS).allowed, false);
    assert.equal(windows.spend('ended', 1, 1, HOUR_MS).allowed, true);
  });
});
