// The clock of this machine beside the database's, and beside the newest write.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ReferenceTime } from '../../src/domain/store.ts';
import { findClockProblem } from '../../src/usecases/clock-trust.ts';

const NOW_MS = Date.parse('2031-05-01T12:00:00Z');
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const find = (reference: ReferenceTime, confirmed?: string) =>
  findClockProblem(
    { findSetting: async () => undefined, referenceTime: async () => reference },
    NOW_MS,
    confirmed,
  );

describe('findClockProblem', () => {
  const database = (ms: number): ReferenceTime => ({ of: 'database', ms });
  const write = (ms: number | undefined): ReferenceTime => ({ of: 'newest write', ms });

  it('allows a minute to either side of the database', async () => {
    assert.equal(await find(database(NOW_MS + MINUTE_MS)), undefined);
    assert.equal(await find(database(NOW_MS - MINUTE_MS)), undefined);
    assert.match(
      (await find(database(NOW_MS + MINUTE_MS + 1)))!,
      /behind.*the database says 2031-05-01T12:01/,
    );
    assert.match(
      (await find(database(NOW_MS - MINUTE_MS - 1)))!,
      /ahead.*the database says 2031-05-01T11:58/,
    );
    assert.match((await find(database(NOW_MS - 200 * DAY_MS)))!, /200 days after the clock of the database/);
  });

  it('allows a day after the newest write, but no write in the future', async () => {
    assert.equal(await find(write(undefined)), undefined);
    assert.equal(await find(write(NOW_MS - DAY_MS)), undefined);
    assert.match((await find(write(NOW_MS + DAY_MS)))!, /behind.*the newest write is from 2031-05-02/);
    assert.match((await find(write(NOW_MS - 3 * DAY_MS)))!, /3 days after the service last ran/);
    assert.equal(await find(write(NOW_MS - 3 * DAY_MS), '2031-05-01'), undefined);
  });
});
