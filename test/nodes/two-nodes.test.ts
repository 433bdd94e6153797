// Two nodes over one database, each a real process: together they are one service. For an outage of the database, see
// outage.test.ts and failover.test.ts.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Side } from '../postgres/side.ts';
import { assertError, type Client, newEvent } from '../support/client.ts';
import { newDatabase } from '../support/postgres.ts';
import { type Node, registerOnAll, startNodes, stopSoundly } from './nodes.ts';

const REVOKED_MS = 1_000;
const QUOTA = 1_000;
const SMALL_QUOTA = 50;
const UNLIMITED = { tier: 'admin' };

describe('two nodes', { timeout: 90_000 }, () => {
  let nodes: [Node, Node];
  let side: Side;
  before(async () => {
    const url = await newDatabase();
    const limits = {
      RATE_LIMIT_READ: `${SMALL_QUOTA}`,
      RATE_LIMIT_READWRITE: `${QUOTA}`,
      RATE_LIMIT_ADMIN: '0',
    };
    nodes = (await startNodes(2, url, limits)) as [Node, Node];
    side = new Side(url);
  });
  after(async () => {
    await stopSoundly(nodes);
    await side.close();
  });

  /** A new agent, without a quota unless `update` sets another tier: a client for each node, and its ID. */
  async function newAgent(update: object = UNLIMITED): Promise<{ on: [Client, Client]; id: string }> {
    const on = (await registerOnAll(nodes)) as [Client, Client];
    const { agents } = (await nodes[0].administrator.get('/v1/admin/agents')).body;
    const { id } = agents.at(-1);
    const updated = await nodes[0].administrator.patch(`/v1/admin/agents/${id}`, update);
    assert.equal(updated.status, 200, updated.text);
    await sleep(600); // the other node may use the old tier for half a second
    return { on, id };
  }

  it('see the writes of the other in their next request', async () => {
    const { on } = await newAgent();
    for (let round = 0; round < 50; round++) {
      const [here, there] = round % 2 === 0 ? on : ([on[1], on[0]] as const);
      const place = { lat: 10 + round, lng: 20 };
      const event = await here.create(place);
      const path = `/v1/events/${event.event_id}`;
      assert.deepEqual((await there.get(path)).body, event);
      assert.deepEqual((await there.nearby({ ...place, radius: 1 })).body.events, [event]);
      const changed = (await there.patch(path, { cost: 'free' })).body;
      assert.deepEqual(changed, { ...event, cost: 'free' });
      assert.deepEqual((await here.get(path)).body, changed);
      assert.equal((await there.delete(path)).status, 204);
      assertError(await here.get(path), 404, 'NOT_FOUND');
      assert.equal((await here.nearby({ ...place, radius: 1 })).body.total, 0);
    }
  });

  it('create one event from 100 equal creates, 20 times', async () => {
    const { on, id } = await newAgent();
    for (let round = 1; round <= 20; round++) {
      const body = newEvent();
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, at) => on[at % 2]!.post('/v1/events', body)),
      );
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1, 'every response is the same event');
      const [stored] = await side.sql`
        SELECT event_count, (SELECT count(*)::integer FROM events WHERE events.agent_id = agents.agent_id) AS events
        FROM agents WHERE agent_id = ${id}`;
      assert.deepEqual({ ...stored }, { event_count: round, events: round });
    }
  });

  it('apply 100 changes to one event that arrive at both, each exactly once', async () => {
    const { on } = await newAgent();
    const { event_id } = await on[0].create();
    const change = (at: number) => on[at % 2]!.patch(`/v1/events/${event_id}`, { cost: String(at) });
    const answers = await Promise.all(Array.from({ length: 100 }, (_, at) => change(at)));
    for (const [at, { status, body }] of answers.entries())
      assert.deepEqual([status, body.cost], [200, String(at)]);
    const [row] = await side.sql`SELECT version FROM events WHERE event_id = ${event_id}`;
    assert.equal(row?.version, 101);
  });

  it('accept a key at once that the other created', async () => {
    for (let round = 0; round < 20; round++) {
      const registration = { email: 'agent@example.com', agent_name: 'new' };
      const { api_key } = (await nodes[round % 2]!.client.post('/v1/auth/register', registration)).body;
      const there = nodes[(round + 1) % 2]!.client.with({ 'x-api-key': api_key });
      assert.equal((await there.nearby()).status, 200);
    }
  });

  const revocations: [
    name: string,
    revoke: (administrator: Client, id: string) => ReturnType<Client['get']>,
  ][] = [
    ['is deleted', (administrator, id) => administrator.delete(`/v1/admin/agents/${id}`)],
    [
      'is deactivated',
      (administrator, id) => administrator.patch(`/v1/admin/agents/${id}`, { is_active: false }),
    ],
  ];
  for (const [name, revoke] of revocations) {
    it(`refuse, within a second, the key of an agent that ${name} on the other`, async (t) => {
      const { on, id } = await newAgent();
      const answers: { status: number; begunMs: number }[] = [];
      let isOver = false;
      const ask = async (client: Client) => {
        while (!isOver) {
          const begunMs = performance.now();
          const { status } = await client.nearby();
          answers.push({ status, begunMs });
        }
      };
      const asking = Promise.all([ask(on[1]), ask(on[1]), ask(on[0])]);
      await sleep(300);
      const { status } = await revoke(nodes[0].administrator, id);
      const revokedMs = performance.now();
      assert.ok(status === 200 || status === 204);
      // The node that made the change refuses it at once.
      assertError(await on[0].nearby(), 401, 'INVALID_API_KEY');
      await sleep(1_500);
      isOver = true;
      await asking;
      const accepted = answers.filter((answer) => answer.status === 200);
      const lastMs = Math.max(...accepted.map(({ begunMs }) => begunMs)) - revokedMs;
      assert.ok(lastMs < REVOKED_MS, `it was accepted ${lastMs} ms later`);
      assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([200, 401]));
      t.diagnostic(`accepted for ${Math.round(lastMs)} ms`);
      if (name === 'is deleted') return;
      await nodes[1].administrator.patch(`/v1/admin/agents/${id}`, { is_active: true });
      assert.equal((await on[0].nearby()).status, 200, 'at once, where it was refused before');
      assert.equal((await on[1].nearby()).status, 200);
    });
  }

  it('share one quota, exactly if it is small', async () => {
    const { on } = await newAgent({ tier: 'read' });
    const answers = await Promise.all(
      Array.from({ length: SMALL_QUOTA + 30 }, (_, at) => on[at % 2]!.nearby()),
    );
    const allowed = answers.filter(({ status }) => status === 200);
    assert.equal(allowed.length, SMALL_QUOTA);
    for (const answer of answers.filter(({ status }) => status !== 200))
      assertError(answer, 429, 'RATE_LIMITED');
  });

  it('share one quota, within 1 % if it is large, without a write per request', async (t) => {
    const { on } = await newAgent({ tier: 'readwrite' });
    const quotaWrites = await side.countWrites('quotas');
    let allowed = 0;
    let asked = 0;
    const use = async (client: Client) => {
      for (let isAllowed = true; isAllowed; asked++) {
        const { status } = await client.nearby();
        isAllowed = status === 200;
        if (isAllowed) allowed++;
        else assert.equal(status, 429);
      }
    };
    // Unevenly: three quarters of it on one node.
    await Promise.all([use(on[0]), use(on[0]), use(on[0]), use(on[1])]);
    assert.ok(allowed >= 0.99 * QUOTA && allowed <= 1.01 * QUOTA, `${allowed} of ${QUOTA}`);
    const writes = await quotaWrites();
    assert.ok(writes <= QUOTA / 4, `${writes} writes for ${asked} requests`);
    for (let more = 0; more < 20; more++) assertError(await on[more % 2]!.nearby(), 429, 'RATE_LIMITED');
    assert.ok((await quotaWrites()) <= writes + 2, 'once it is used up, nothing is written');
    t.diagnostic(`${allowed} of ${QUOTA} allowed with ${writes} writes`);
  });

  it('show the last use of an agent on the other, without a write per request', async (t) => {
    const { on, id } = await newAgent();
    const agentWrites = await side.countWrites('agents', `NEW.agent_id = '${id}'`);
    const begunMs = Date.now();
    for (let round = 0; round < 200; round++) assert.equal((await on[1].nearby()).status, 200);
    const usedMs = Date.now();
    const lastUse = async () => {
      const { agents } = (await nodes[0].administrator.get('/v1/admin/agents')).body;
      return Date.parse(agents.find((agent: { id: string }) => agent.id === id).last_used_at);
    };
    while (!((await lastUse()) >= begunMs)) {
      assert.ok(Date.now() - usedMs < 10_000, 'it is inexact by more than 10 seconds');
      await sleep(100);
    }
    const writes = await agentWrites();
    assert.ok(writes <= 5, `${writes} writes for 200 requests`);
    t.diagnostic(`known after ${Date.now() - usedMs} ms, with ${writes} writes`);
  });
});
