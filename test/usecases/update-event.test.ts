// Updates of one event run one after another, but those of strangers do not delay the owner's.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../../src/config.ts';
import { openStore } from '../../src/engines.ts';
import { type Context, KeyedQueue } from '../../src/usecases/context.ts';
import { updateEvent } from '../../src/usecases/events.ts';
import { addAgent, addEvent, findRow, NOW_MS } from '../store/rows.ts';
import { ENGINES, type Engine } from '../support/engines.ts';

for (const engine of Object.keys(ENGINES) as Engine[]) {
  describe(`updates of one event on ${engine}`, () => {
    it('of its owner do not wait for those of strangers', async (t) => {
      const store = await openStore(readConfig(await ENGINES[engine]()), NOW_MS);
      t.after(() => store.close());
      const { agent: owner } = await addAgent(store);
      const { agent: stranger } = await addAgent(store);
      const { event_id } = await addEvent(store, owner);
      const find = store.findEvent.bind(store);
      const { promise: released, resolve: release } = Promise.withResolvers<void>();
      let reads = 0;
      store.findEvent = async (eventId) => {
        if (++reads <= 3) await released; // the strangers' reads
        return find(eventId);
      };
      const context = { store, clock: () => NOW_MS, edits: new KeyedQueue(), policy: {} } as Context;
      const update = (agent: typeof owner, title: string) =>
        updateEvent(context, agent, undefined, event_id, { title });

      const strangers = ['a', 'b', 'c'].map((title) =>
        assert.rejects(update(stranger, title), { code: 'NOT_FOUND' }),
      );
      const late = sleep(10_000, undefined, { ref: false });
      const updated = await Promise.race([update(owner, 'mine'), late]);
      release();
      assert.ok(updated, 'the owner waits');
      assert.equal(JSON.parse(updated.json).title, 'mine');
      await Promise.all(strangers);
      assert.equal((await findRow(store, event_id))?.title, 'mine');
    });

    it('of its owner all happen, one after another', async (t) => {
      const store = await openStore(readConfig(await ENGINES[engine]()), NOW_MS);
      t.after(() => store.close());
      const { agent } = await addAgent(store);
      const { event_id } = await addEvent(store, agent);
      const replace = store.replaceEvent.bind(store);
      let conflicts = 0;
      store.replaceEvent = async (...args) => {
        const outcome = await replace(...args);
        if (outcome.kind === 'conflict') conflicts++;
        return outcome;
      };
      const context = { store, clock: () => NOW_MS, edits: new KeyedQueue(), policy: {} } as Context;
      await Promise.all(
        Array.from({ length: 100 }, (_, number) =>
          updateEvent(context, agent, undefined, event_id, { title: `title ${number}` }),
        ),
      );
      assert.equal((await findRow(store, event_id))?.version, 101);
      assert.ok(conflicts <= 1, `${conflicts} conflicts`);
    });
  });
}
