// The events of the demo, at any hour of the day in any of its cities.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { CITIES } from '../../demo/cities.ts';
import { fill } from '../../demo/fill.ts';
import { readConfig } from '../../src/config.ts';
import { ALL_EVENTS } from '../../src/domain/events/nearby.ts';
import type { Store } from '../../src/domain/store.ts';
import { openStore } from '../../src/engines.ts';
import { ENGINES } from '../support/engines.ts';

const START_MS = Date.UTC(2031, 4, 1);
const HALF_HOUR_MS = 1_800_000;

let store: Store;
before(async () => {
  store = await openStore(readConfig(await ENGINES.sqlite()), START_MS);
  await fill(store, START_MS, { sub: 'ada', email: 'ada@example.com' });
});
after(() => store.close());

it('has something tonight and much in the next 7 days in every city, whatever the time is', async () => {
  for (let halfHour = 0; halfHour < 48; halfHour++) {
    const nowMs = START_MS + halfHour * HALF_HOUR_MS;
    for (const { name, lat, lng } of CITIES) {
      const near = { ...ALL_EVENTS, lat, lng, radiusMiles: 25 };
      const tonight = await store.nearby({ ...near, when: 'tonight' }, nowMs);
      assert.ok(tonight.total >= 3, `${name}: ${tonight.total} tonight at ${new Date(nowMs).toISOString()}`);
      const week = await store.nearby({ ...near, when: 'next_7_days' }, nowMs);
      assert.ok(week.total >= 50, `${name}: ${week.total} in 7 days at ${new Date(nowMs).toISOString()}`);
    }
  }
});
