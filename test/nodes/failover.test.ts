// A primary that fails and a synchronous standby that replaces it, both real clusters, under a load of creates on two nodes:
// no acknowledged event is lost, none is stored twice, and no process is restarted.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { assertError, type Client, newEvent } from '../support/client.ts';
import { type Cluster, startCluster } from '../support/postgres-cluster.ts';
import { size } from '../support/sizes.ts';
import { type Node, registerOnAll, startNodes } from './nodes.ts';

const BACK_MS = 5_000;
const LOOPS_PER_NODE = 8;

/** Creates events on every node and, as a client would, retries those that are refused. */
class Creates {
  /** Every acknowledged ID, with its title. */
  readonly titles = new Map<string, string>();
  readonly #ids = new Map<string, string>();
  readonly #lastMs = new Map<Client, number>();
  readonly #loops: Promise<void>[] = [];
  #isStopped = false;
  #sent = 0;
  refused = 0;

  constructor(agents: readonly Client[]) {
    for (const agent of agents) {
      for (let loop = 0; loop < LOOPS_PER_NODE; loop++) this.#loops.push(this.#run(agent));
    }
  }

  /** When the node last acknowledged a create. */
  lastMs(agent: Client): number {
    return this.#lastMs.get(agent) ?? 0;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#loops);
  }

  async #run(agent: Client): Promise<void> {
    while (!this.#isStopped) {
      // Every third event is sent three times, over any nodes.
      const number = this.#sent++;
      const title = number % 9 < 3 ? `repeated ${Math.floor(number / 9)}` : `event ${number}`;
      await this.#create(agent, title);
    }
  }

  async #create(agent: Client, title: string): Promise<void> {
    for (;;) {
      const answer = await agent.post('/v1/events', newEvent({ title }));
      if (answer.status === 200) {
        const { event_id } = answer.body;
        assert.equal(this.#ids.get(title) ?? event_id, event_id, `${title} has two IDs`);
        this.#ids.set(title, event_id);
        this.titles.set(event_id, title);
        this.#lastMs.set(agent, performance.now());
        return;
      }
      assertError(answer, 503, 'UNAVAILABLE');
      assert.ok(answer.headers.get('retry-after'));
      this.refused++;
      await sleep(50);
    }
  }
}

/** Compares the rows of the new primary, and the list of a node, with the acknowledged creates. */
async function assertAllThere(standby: Cluster, creates: Creates, node: Node): Promise<void> {
  const sql = postgres(standby.url(), { max: 1 });
  const rows = await sql`SELECT event_id, title FROM events`;
  const [counted] = await sql`SELECT event_count FROM agents WHERE event_count > 0`;
  await sql.end();
  const stored = new Map(rows.map(({ event_id, title }) => [event_id, title]));
  const lost = [...creates.titles].filter(([id, title]) => stored.get(id) !== title);
  assert.deepEqual(lost, []);
  assert.equal(new Set(stored.values()).size, rows.length, 'no title is there twice');
  assert.equal(counted?.event_count, rows.length);
  const { agents } = (await node.administrator.get('/v1/admin/agents')).body;
  const { id } = agents.find(({ event_count }: { event_count: number }) => event_count > 0);
  const { events } = (await node.administrator.get(`/v1/admin/agents/${id}/events`)).body;
  assert.deepEqual(
    new Set(events.map((event: { event_id: string }) => event.event_id)),
    new Set(stored.keys()),
  );
}

async function failOver(t: TestContext, fsync: string, goAway: (primary: Cluster) => unknown): Promise<void> {
  const primary = await startCluster({ settings: { fsync } });
  t.after(() => primary.remove());
  const standby = await primary.startStandby();
  t.after(() => standby.remove());
  const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`;
  const nodes = await startNodes(2, `postgres://postgres@${hosts}/postgres`);
  t.after(() => Promise.all(nodes.map((node) => node.stop('SIGKILL'))));

  const agents = await registerOnAll(nodes);
  const creates = new Creates(agents);
  while (creates.titles.size < 50) await sleep(5);
  const before = creates.titles.size;
  await goAway(primary);
  await sleep(2_000); // longer than requests wait for a new primary
  await standby.promote();
  const promotedMs = performance.now();
  while (!agents.every((one) => creates.lastMs(one) > promotedMs)) {
    assert.ok(performance.now() - promotedMs < BACK_MS, `it takes longer than ${BACK_MS} ms`);
    await sleep(5);
  }
  const backMs = Math.round(performance.now() - promotedMs);
  await sleep(500);
  await creates.stop();

  for (const node of nodes) await assertAllThere(standby, creates, node);
  for (const { client } of nodes) assert.equal((await client.get('/health')).status, 200);
  assert.ok(nodes.every((node) => node.isRunning()));
  assert.deepEqual(
    nodes.map((node) => node.errors()),
    ['', ''],
  );
  assert.ok(creates.refused > 0, 'there was an outage');
  t.diagnostic(
    `back ${backMs} ms after the promotion; ${before} acknowledged before, ${creates.titles.size} in all`,
  );
}

describe('two nodes that name a primary and its standby', { timeout: 180_000 }, () => {
  const kill = () =>
    it('lose nothing and repeat nothing when the primary is killed and the standby promoted', (t) =>
      failOver(t, 'on', (primary) => primary.kill9()));
  const hang = () =>
    it('lose nothing and repeat nothing when the primary hangs', (t) =>
      failOver(t, 'off', (primary) => primary.pause()));
  for (const declare of size([kill], [kill, hang])) declare();
});
