// Two clients edit one event with If-Match: neither overwrites a change that it has not read. On PostgreSQL each client
// uses its own node.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Client } from '../support/client.ts';
import { ENGINES } from '../support/engines.ts';
import { startTestService } from '../support/service.ts';
import { size } from '../support/sizes.ts';

const EDITS_EACH = size(50, 500);
const ROUNDS = size(15, 60);

/** Counter that every edit increments: edits in all and per client. */
interface Tally {
  readonly count: number;
  readonly by: readonly [number, number];
}

for (const [engine, place] of Object.entries(ENGINES)) {
  describe(`two clients with If-Match on ${engine}`, () => {
    const start = async (t: { after(end: () => Promise<void>): void }) => {
      const env = await place();
      const services = [await startTestService(env)];
      if (engine === 'postgres') services.push(await startTestService(env));
      t.after(async () => {
        for (const service of services) await service.close();
      });
      const first = await services[0]!.newAgent();
      // The same agent's key: only the owner may change an event.
      const second = new Client(services.at(-1)!.url, first.headers);
      return [first, second] as const;
    };

    it(`lose no update in ${2 * EDITS_EACH} concurrent edits`, async (t) => {
      const clients = await start(t);
      const none: Tally = { count: 0, by: [0, 0] };
      const { event_id } = await clients[0].create({ description: JSON.stringify(none) });
      const path = `/v1/events/${event_id}`;
      const tags = new Set<string>();
      let refused = 0;
      const edit = async (who: 0 | 1) => {
        for (let done = 0; done < EDITS_EACH; ) {
          const read = await clients[who].get(path);
          const tally = JSON.parse(read.body.description) as Tally;
          const by = tally.by.map((made, at) => (at === who ? made + 1 : made));
          const description = JSON.stringify({ count: tally.count + 1, by });
          const headers = { 'if-match': read.headers.get('etag')! };
          const written = await clients[who].send('PATCH', path, { body: { description }, headers });
          if (written.status === 412) {
            refused++;
            continue;
          }
          assert.equal(written.status, 200, written.text);
          assert.equal(written.body.description, description);
          tags.add(written.headers.get('etag')!);
          done++;
        }
      };
      await Promise.all([edit(0), edit(1)]);
      const left = await clients[0].get(path);
      assert.deepEqual(JSON.parse(left.body.description), {
        count: 2 * EDITS_EACH,
        by: [EDITS_EACH, EDITS_EACH],
      });
      assert.equal(left.headers.get('etag'), `"${2 * EDITS_EACH + 1}"`);
      assert.equal(tags.size, 2 * EDITS_EACH, 'a version was given out twice');
      t.diagnostic(`${refused} edits were refused and made again`);
    });

    it('delete only the version that they have read, even if the other changes it meanwhile', async (t) => {
      const clients = await start(t);
      for (let round = 0; round < ROUNDS; round++) {
        const { event_id } = await clients[0].create();
        const path = `/v1/events/${event_id}`;
        const headers = { 'if-match': '"1"' };
        const [changed, removed] = await Promise.all([
          clients[0].send('PATCH', path, { body: { cost: 'kept' }, headers }),
          clients[1].send('DELETE', path, { headers }),
        ]);
        const left = await clients[round % 2]!.get(path);
        if (changed.status === 200) {
          assert.equal(removed.status, 412, removed.text);
          assert.equal(left.body.cost, 'kept');
        } else {
          assert.deepEqual([changed.status, removed.status, left.status], [404, 204, 404]);
        }
      }
    });
  });
}
