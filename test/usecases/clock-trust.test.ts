// Which times of a machine's clock are trusted, on both engines. The embedded engine knows only its data; PostgreSQL has a clock.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/config.ts';
import type { Store } from '../../src/domain/store.ts';
import { openStore } from '../../src/engines.ts';
import { ClockTrust, describeDoubt } from '../../src/usecases/clock-trust.ts';
import { addAgent, addEvent } from '../store/rows.ts';
import { ENGINES, type Engine } from '../support/engines.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const JUMP_MS = 200 * DAY_MS;
const START_MS = Date.now();

/** A process: its clock, and how long it has run. */
function newNode(store: Store, confirmedDate?: string) {
  let uptimeMs = 5_000;
  let clockMs = START_MS;
  const trust = new ClockTrust({ store, clock: () => clockMs, uptime: () => uptimeMs, confirmedDate });
  return {
    trust,
    /** Lets it run with a right clock. */
    run(ms: number) {
      uptimeMs += ms;
      clockMs += ms;
    },
    jump(ms: number) {
      clockMs += ms;
    },
    isTrusted: async () => (await trust.check(clockMs)) === undefined,
    doubt: () => trust.check(clockMs),
  };
}

const dateOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

for (const engine of Object.keys(ENGINES) as Engine[]) {
  describe(`the clock of a machine on ${engine}`, () => {
    const withStore = (use: (store: Store, reopen: () => Promise<Store>) => Promise<void>) => async () => {
      const config = readConfig(await ENGINES[engine]());
      let store = await openStore(config, START_MS);
      const reopen = async () => {
        await store.close();
        store = await openStore(config, START_MS);
        return store;
      };
      try {
        await use(store, reopen);
      } finally {
        await store.close();
      }
    };

    it(
      'is trusted with an empty store, while it runs, and when it goes back',
      withStore(async (store) => {
        const node = newNode(store);
        assert.ok(await node.isTrusted());
        for (let times = 0; times < 3; times++) {
          node.run(20 * HOUR_MS - 60_000);
          if (engine === 'postgres') node.jump(-20 * HOUR_MS); // the database's clock has not moved
          assert.ok(await node.isTrusted());
        }
        node.jump(-JUMP_MS);
        assert.ok(await node.isTrusted());
      }),
    );

    it(
      'is not trusted after a jump of more than a day, until it is back',
      withStore(async (store) => {
        const node = newNode(store);
        assert.ok(await node.isTrusted());
        node.jump(DAY_MS - 60_000);
        assert.ok(await node.isTrusted());
        node.jump(2 * DAY_MS);
        assert.ok(!(await node.isTrusted()));
        node.run(600_000);
        assert.ok(!(await node.isTrusted()));
        node.jump(-3 * DAY_MS);
        assert.ok(await node.isTrusted());
      }),
    );

    it(
      'is not trusted at the first start after data was written, and what is written since does not change that',
      withStore(async (store, reopen) => {
        const { agent } = await addAgent(store, { created_ms: START_MS });
        const again = await reopen();
        const node = newNode(again);
        node.jump(JUMP_MS);
        const doubt = await node.doubt();
        assert.equal(doubt?.referenceMs && dateOf(doubt.referenceMs), dateOf(START_MS));
        await addEvent(again, agent, { created_ms: START_MS + JUMP_MS });
        await addAgent(again, { created_ms: START_MS + JUMP_MS });
        assert.ok(!(await node.isTrusted()));
        const later = newNode(await reopen());
        later.jump(JUMP_MS);
        assert.ok(!(await later.isTrusted()));
      }),
    );

    it(
      'is trusted on the day that the operator confirms, and from then on',
      withStore(async (store) => {
        assert.ok(await newNode(store).isTrusted());
        const today = dateOf(START_MS + JUMP_MS);
        for (const date of [dateOf(START_MS), dateOf(START_MS + JUMP_MS - DAY_MS)]) {
          const other = newNode(store, date);
          other.jump(JUMP_MS);
          const doubt = await other.doubt();
          assert.ok(doubt);
          assert.ok(describeDoubt(doubt).includes(`CLOCK_CONFIRMED is ${date}, which is another date.`));
          assert.ok(describeDoubt(doubt).includes(`CLOCK_CONFIRMED=${today} today`));
        }
        const confirmed = newNode(store, today);
        confirmed.jump(JUMP_MS);
        assert.ok(await confirmed.isTrusted());
        const later = newNode(store);
        later.jump(JUMP_MS + 20 * HOUR_MS);
        assert.ok(await later.isTrusted());
        later.jump(2 * DAY_MS);
        assert.ok(!(await later.isTrusted()));
      }),
    );

    it(
      'is trusted after 24 hours of running time, summed over restarts',
      withStore(async (store) => {
        assert.ok(await newNode(store).isTrusted());
        let ran = 0;
        const runFor = async (hours: number) => {
          const node = newNode(store);
          node.jump(JUMP_MS + ran * DAY_MS); // there is a day or more between the runs
          const before = await node.isTrusted();
          for (let hour = 0; hour < hours; hour++) {
            node.run(HOUR_MS);
            if (engine === 'postgres') await passOnDatabase(store, HOUR_MS);
            if (hour < hours - 1) await node.isTrusted();
          }
          await node.trust.close();
          ran++;
          return before;
        };
        assert.deepEqual([await runFor(10), await runFor(10), await runFor(3)], [false, false, false]);
        const short = newNode(store);
        short.jump(JUMP_MS + 3 * DAY_MS);
        const doubt = await short.doubt();
        assert.equal(doubt?.waitedMs, 23 * HOUR_MS);
        assert.ok(describeDoubt(doubt).includes('has run for 24 hours (23.0 so far, summed over restarts)'));
        assert.equal(await runFor(1), false);
        assert.equal(await runFor(1), true);
      }),
    );

    it(
      'has to wait again when it jumps once more while it runs',
      withStore(async (store) => {
        const node = newNode(store);
        assert.ok(await node.isTrusted());
        node.jump(2 * DAY_MS);
        assert.ok(!(await node.isTrusted()));
        node.run(23 * HOUR_MS);
        if (engine === 'postgres') await passOnDatabase(store, 23 * HOUR_MS);
        assert.equal((await node.doubt())?.waitedMs, 23 * HOUR_MS);
        node.run(2 * HOUR_MS);
        node.jump(JUMP_MS);
        assert.equal((await node.doubt())?.waitedMs, 0);
      }),
    );

    it(
      'has to wait again when it starts with another jump than the one that it has waited for',
      withStore(async (store) => {
        assert.ok(await newNode(store).isTrusted());
        const stopped = newNode(store);
        stopped.jump(2 * DAY_MS);
        assert.ok(!(await stopped.isTrusted()));
        stopped.run(23.8 * HOUR_MS);
        if (engine === 'postgres') await passOnDatabase(store, 23.8 * HOUR_MS);
        await stopped.trust.close();
        const wrong = newNode(store);
        wrong.jump(JUMP_MS);
        for (const ranMs of [0, 1_200_000, 22 * HOUR_MS]) {
          wrong.run(ranMs);
          if (engine === 'postgres') await passOnDatabase(store, ranMs);
          assert.ok(!(await wrong.isTrusted()), `after ${ranMs} ms`);
        }
      }),
    );
  });
}

/** As if the database's clock had gone on since the last check: what was noted then is moved back. */
async function passOnDatabase(store: Store, ms: number): Promise<void> {
  const state = JSON.parse((await store.findSetting('retention_clock'))!);
  for (const wait of state.waits ?? []) wait.notedMs -= ms;
  await store.setSetting('retention_clock', JSON.stringify(state));
}

describe('a clock that is behind, on the embedded engine', () => {
  const open = async () => openStore(readConfig(await ENGINES.sqlite()), START_MS);
  const TO_1970_MS = -START_MS;

  it('is not noted: a machine that starts in 1970 each time is trusted as soon as its clock is right', async (t) => {
    const store = await open();
    t.after(() => store.close());
    assert.ok(await newNode(store).isTrusted());
    for (let start = 1; start <= 3; start++) {
      const node = newNode(store);
      node.jump(TO_1970_MS);
      assert.ok(await node.isTrusted(), 'it removes less');
      node.run(600_000);
      await node.trust.close();
      node.jump(-TO_1970_MS + start * HOUR_MS);
      assert.ok(await node.isTrusted(), `start ${start}`);
    }
  });

  it('does not end the wait after a stop of two days', async (t) => {
    const store = await open();
    t.after(() => store.close());
    assert.ok(await newNode(store).isTrusted());
    for (let start = 1; start <= 4; start++) {
      const node = newNode(store);
      node.jump(TO_1970_MS);
      assert.ok(await node.isTrusted());
      node.jump(-TO_1970_MS + 2 * DAY_MS + start * 7 * HOUR_MS);
      assert.ok(!(await node.isTrusted()), `start ${start}`);
      node.run(6 * HOUR_MS);
      assert.equal(await node.isTrusted(), start === 4, `start ${start}`);
    }
  });

  it('is noted after 24 hours of running time, or on the day that is confirmed: the last run may have been wrong', async (t) => {
    for (const confirms of [false, true]) {
      const store = await open();
      t.after(() => store.close());
      const ahead = newNode(store, dateOf(START_MS + JUMP_MS));
      ahead.jump(JUMP_MS);
      assert.ok(await ahead.isTrusted());
      const right = newNode(store, confirms ? dateOf(START_MS) : undefined);
      const lastRun = async () => dateOf(JSON.parse((await store.findSetting('retention_clock'))!).lastRunMs);
      assert.ok(await right.isTrusted());
      assert.equal(await lastRun(), dateOf(START_MS + (confirms ? 0 : JUMP_MS)));
      right.run(12 * HOUR_MS);
      await right.trust.close();
      const later = newNode(store);
      later.run(12 * HOUR_MS);
      assert.ok(await later.isTrusted());
      later.run(12 * HOUR_MS);
      assert.ok(await later.isTrusted());
      assert.equal(await lastRun(), dateOf(START_MS + DAY_MS));
      later.jump(2 * DAY_MS);
      assert.ok(!(await later.isTrusted()));
    }
  });
});

describe('several nodes on PostgreSQL', () => {
  const open = async () => openStore(readConfig(await ENGINES.postgres()), START_MS);

  it('of which one is wrong: it never gets to remove, and stops nobody', async (t) => {
    const store = await open();
    t.after(() => store.close());
    const [right, wrong] = [newNode(store), newNode(store)];
    wrong.jump(JUMP_MS);
    for (let hour = 0; hour < 50; hour++) {
      assert.ok(!(await wrong.isTrusted()), `after ${hour} hours`);
      await passOnDatabase(store, HOUR_MS);
      assert.ok(await right.isTrusted(), `after ${hour} hours`);
      wrong.run(HOUR_MS);
    }
    await wrong.trust.close();
    assert.ok(await right.isTrusted());
    assert.ok(await newNode(store).isTrusted());
  });

  it('that are all ahead of the database wait as long as one', async (t) => {
    const store = await open();
    t.after(() => store.close());
    const nodes = [newNode(store), newNode(store), newNode(store)];
    for (const node of nodes) {
      node.jump(JUMP_MS);
      assert.ok(!(await node.isTrusted()));
    }
    for (let hour = 1; hour <= 24; hour++) {
      await passOnDatabase(store, HOUR_MS);
      for (const node of nodes) {
        node.run(HOUR_MS);
        assert.equal(await node.isTrusted(), hour === 24, `after ${hour} hours`);
      }
    }
  });

  it('of which two are ahead, by 2 and by 200 days: each waits for its own jump', async (t) => {
    const store = await open();
    t.after(() => store.close());
    const [near, far] = [newNode(store), newNode(store)];
    near.jump(2 * DAY_MS);
    assert.ok(!(await near.isTrusted()));
    for (let hour = 1; hour <= 23; hour++) {
      near.run(HOUR_MS);
      await passOnDatabase(store, HOUR_MS);
      assert.ok(!(await near.isTrusted()));
    }
    far.jump(JUMP_MS);
    assert.equal((await far.doubt())?.waitedMs, 0);
    near.run(HOUR_MS);
    far.run(HOUR_MS);
    await passOnDatabase(store, HOUR_MS);
    assert.ok(!(await far.isTrusted()));
    assert.ok(await near.isTrusted());
    assert.ok(!(await far.isTrusted()));
  });
});
