// Keys that agents rotate and revoke, on two nodes over one database, each a real process: a change on one node takes effect
// on the other within a second. For agents that administrators deactivate or delete, see two-nodes.test.ts; concurrent rotations are in
// test/store/contract-keys.ts.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertError, type Client } from '../support/client.ts';
import { newDatabase } from '../support/postgres.ts';
import { type Node, registerOnAll, startNodes, stopSoundly } from './nodes.ts';

const ENDED_MS = 1_000;

type Pair = [Client, Client];

describe('keys on two nodes', { timeout: 90_000 }, () => {
  let nodes: [Node, Node];
  before(async () => {
    nodes = (await startNodes(2, await newDatabase())) as [Node, Node];
  });
  after(() => stopSoundly(nodes));

  /** A client with the key for each node. */
  const onBoth = (key: string) => nodes.map(({ client }) => client.with({ 'x-api-key': key })) as Pair;

  /** Asserts that a rotation succeeds; returns clients with the new key for both nodes. */
  async function rotate(agent: Client, overlap_seconds?: number): Promise<Pair> {
    const answer = await agent.post('/v1/auth/rotate', { overlap_seconds });
    assert.equal(answer.status, 200, answer.text);
    return onBoth(answer.body.api_key);
  }

  /**
   * Sends requests with the key to both nodes while it ends. Returns for each node how long after the end its last accepted
   * request was sent.
   */
  async function watch(on: Pair, end: () => Promise<void>): Promise<[here: number, there: number]> {
    const accepted: [number, number] = [0, 0];
    const statuses = new Set<number>();
    let isOver = false;
    const ask = async (at: 0 | 1) => {
      while (!isOver) {
        const begunMs = performance.now();
        const { status } = await on[at].nearby();
        statuses.add(status);
        if (status === 200) accepted[at] = Math.max(accepted[at], begunMs);
      }
    };
    const asking = Promise.all([ask(0), ask(1), ask(1)]);
    await sleep(300);
    await end();
    const endedMs = performance.now();
    assertError(await on[0].nearby(), 401, 'INVALID_API_KEY'); // the node that ended it refuses it at once
    await sleep(1_500);
    isOver = true;
    await asking;
    assert.deepEqual(statuses, new Set([200, 401]));
    for (const client of on) assertError(await client.nearby(), 401, 'INVALID_API_KEY');
    return [accepted[0] - endedMs, accepted[1] - endedMs];
  }

  it('accept a new key at once that the other issued', async () => {
    let on = (await registerOnAll(nodes)) as Pair;
    for (let round = 0; round < 20; round++) {
      on = await rotate(on[round % 2]!);
      for (const client of on) assert.equal((await client.nearby()).status, 200);
    }
  });

  const ends: [what: string, end: (on: Pair) => Promise<Pair | undefined>][] = [
    [
      'was revoked',
      async ([here]) => {
        assert.equal((await here.post('/v1/auth/revoke')).status, 204);
        return undefined;
      },
    ],
    [
      'an administrator revoked',
      async ([here]) => {
        const { agent, key } = (await here.get('/v1/agents/me')).body;
        const path = `/v1/admin/agents/${agent.id}/keys/${key.prefix}`;
        assert.equal((await nodes[0].administrator.delete(path)).status, 204);
        return undefined;
      },
    ],
    ['was replaced without an overlap', async ([here]) => rotate(here, 0)],
  ];
  for (const [what, end] of ends) {
    it(`refuse, within a second, a key that ${what} on the other`, async (t) => {
      const on = (await registerOnAll(nodes)) as Pair;
      let next: Pair | undefined;
      const [hereMs, thereMs] = await watch(on, async () => {
        next = await end(on);
      });
      assert.ok(hereMs < 0, `the node itself accepted it ${hereMs} ms later`);
      assert.ok(thereMs < ENDED_MS, `the other node accepted it ${thereMs} ms later`);
      for (const client of next ?? []) assert.equal((await client.nearby()).status, 200);
      t.diagnostic(`accepted for ${Math.round(thereMs)} ms`);
    });
  }

  it('refuse, within a second, a key that a further rotation on the other ended', async (t) => {
    const old = (await registerOnAll(nodes)) as Pair;
    const aside = await rotate(old[0]);
    let next: Pair | undefined;
    const [hereMs, thereMs] = await watch(aside, async () => {
      next = await rotate(old[0]);
    });
    assert.ok(hereMs < 0, `the node itself accepted it ${hereMs} ms later`);
    assert.ok(thereMs < ENDED_MS, `the other node accepted it ${thereMs} ms later`);
    for (const client of [...old, ...next!]) assert.equal((await client.nearby()).status, 200);
    t.diagnostic(`accepted for ${Math.round(thereMs)} ms`);
  });

  it('refuse a replaced key within a second after its overlap', async (t) => {
    const old = (await registerOnAll(nodes)) as Pair;
    const answer = await old[0].post('/v1/auth/rotate', { overlap_seconds: 2 });
    const endMs = Date.parse(answer.body.created_at) + 2_000;
    const lastMs = await Promise.all(
      old.map(async (client) => {
        for (let begunMs = 0; ; ) {
          const nextMs = Date.now();
          const { status } = await client.nearby();
          if (status === 401) return begunMs;
          assert.equal(status, 200);
          begunMs = nextMs;
        }
      }),
    );
    for (const ms of lastMs) {
      assert.ok(ms > 0, 'it still worked for a while');
      assert.ok(ms - endMs < ENDED_MS, `it was accepted ${ms - endMs} ms after its end`);
    }
    assert.equal((await onBoth(answer.body.api_key)[1].nearby()).status, 200);
    t.diagnostic(`last accepted ${lastMs.map((ms) => endMs - ms).join(' and ')} ms before the end`);
  });

  it('report what the agent used on both', async () => {
    const on = (await registerOnAll(nodes)) as Pair;
    const { agent } = (await on[0].get('/v1/agents/me')).body;
    // Nodes of this test have no limit for readwrite.
    await nodes[0].administrator.patch(`/v1/admin/agents/${agent.id}`, { tier: 'read' });
    for (let times = 0; times < 30; times++) for (const client of on) await client.nearby();
    for (const { administrator } of nodes) {
      const { used } = (await administrator.get(`/v1/admin/agents/${agent.id}`)).body.quota.requests;
      // Of the other node's lot, which is half a percent of 10,000, a part may not be used yet.
      assert.ok(used >= 60 && used <= 60 + 50, `${used} used`);
    }
  });

  it('return the same data about an agent and its key', async () => {
    const old = (await registerOnAll(nodes)) as Pair;
    const on = await rotate(old[1], 60);
    for (const pair of [old, on]) {
      const [here, there] = await Promise.all(pair.map((client) => client.get('/v1/agents/me')));
      assert.deepEqual(here!.body.key, there!.body.key);
      assert.equal(here!.body.agent.id, there!.body.agent.id);
    }
    const event = await on[0].create();
    assert.deepEqual((await old[1].get('/v1/agents/me/events')).body.events, [event]);
  });
});
