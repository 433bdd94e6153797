// A node whose database has stopped or hangs: every request gets an error within 2 seconds, the process survives, and
// everything works again by itself. For several hosts and a new primary, see failover.test.ts.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Side } from '../postgres/side.ts';
import { type Answer, assertError, type Client, newEvent } from '../support/client.ts';
import { type Cluster, startCluster } from '../support/postgres-cluster.ts';
import { waitedForCoreMs } from '../support/process.ts';
import { type Node, startNodes } from './nodes.ts';

/** Plus the time that the node or this process was ready to run but had no core. */
const MAX_MS = 2_000;
const MAX_STOP_MS = 5_000;
const LOOPS = 32;
const POOL_SIZE = 8;
const UNKNOWN_ULID = '01J00000000000000000000000';

interface Kind {
  readonly name: string;
  /** Without an outage. */
  readonly status: number;
  readonly send: () => Promise<Answer>;
}

interface Timed {
  readonly kind: Kind;
  readonly answer: Answer;
  readonly begunMs: number;
  readonly tookMs: number;
}

async function timed(kind: Kind): Promise<Timed> {
  const begunMs = performance.now();
  const answer = await kind.send();
  return { kind, answer, begunMs, tookMs: performance.now() - begunMs };
}

/** Every kind of request. All changes are to one event, so they also wait for each other. */
async function kindsOf({ client, administrator }: Node): Promise<Kind[]> {
  const agent = await client.register();
  const { event_id } = await agent.create();
  const registration = { email: 'agent@example.com', agent_name: 'one more' };
  const { id } = (await administrator.get('/v1/admin/agents')).body.agents[0];
  return [
    { name: 'health', status: 200, send: () => client.get('/health') },
    { name: 'search', status: 200, send: () => agent.nearby() },
    { name: 'search with a radius', status: 200, send: () => agent.nearby({ radius: 10 }) },
    { name: 'read', status: 200, send: () => agent.get(`/v1/events/${event_id}`) },
    { name: 'create', status: 200, send: () => agent.post('/v1/events', newEvent()) },
    { name: 'change', status: 200, send: () => agent.patch(`/v1/events/${event_id}`, { cost: 'free' }) },
    { name: 'delete', status: 404, send: () => agent.delete(`/v1/events/${UNKNOWN_ULID}`) },
    { name: 'register', status: 200, send: () => client.post('/v1/auth/register', registration) },
    { name: 'agents', status: 200, send: () => administrator.get('/v1/admin/agents') },
    { name: 'change of an agent', status: 200, send: () => changeAgent(administrator, id) },
  ];
}

function changeAgent(administrator: Client, id: string): Promise<Answer> {
  return administrator.patch(`/v1/admin/agents/${id}`, { is_active: true });
}

/** Sends requests of every kind until it is stopped; then returns all responses. */
function load(kinds: readonly Kind[]): { stop(): Promise<Timed[]> } {
  const all: Timed[] = [];
  let isStopped = false;
  const loop = async (first: number) => {
    for (let at = first; !isStopped; at++) {
      all.push(await timed(kinds[at % kinds.length]!));
      await sleep(20);
    }
  };
  const loops = Promise.all(Array.from({ length: LOOPS }, (_, first) => loop(first)));
  return {
    stop: async () => {
      isStopped = true;
      await loops;
      return all;
    },
  };
}

/** A function that returns how long the node and this process have had no core since now. */
function measureWaits({ pid }: Node): () => number {
  const waitedMs = () => waitedForCoreMs(pid) + waitedForCoreMs(process.pid);
  const beforeMs = waitedMs();
  return () => waitedMs() - beforeMs;
}

function assertUnavailable({ kind, answer, tookMs }: Timed, waitedMs: number): void {
  assert.equal(answer.status, 503, `${kind.name}: ${answer.text}`);
  assertError(answer, 503, 'UNAVAILABLE');
  assert.match(answer.headers.get('retry-after') ?? 'none', /^[1-9]\d*$/, kind.name);
  assert.ok(tookMs < MAX_MS + waitedMs, `${kind.name} took ${Math.round(tookMs)} ms`);
}

async function untilHealthy({ client }: Node): Promise<void> {
  while ((await client.get('/health')).status !== 200) await sleep(20);
}

const OUTAGES: { name: string; begin: (cluster: Cluster) => unknown; end: (cluster: Cluster) => unknown }[] =
  [
    { name: 'is killed', begin: (cluster) => cluster.kill9(), end: (cluster) => cluster.start() },
    { name: 'is stopped', begin: (cluster) => cluster.stop(), end: (cluster) => cluster.start() },
    { name: 'hangs', begin: (cluster) => cluster.pause(), end: (cluster) => cluster.resume() },
  ];

describe('a node whose database', { timeout: 300_000 }, () => {
  let cluster: Cluster;
  let node: Node;
  let kinds: Kind[];
  before(async () => {
    cluster = await startCluster();
    [node] = (await startNodes(1, cluster.url())) as [Node];
    kinds = await kindsOf(node);
  });
  after(async () => {
    await node.stop('SIGKILL');
    await cluster.remove();
  });

  for (const { name, begin, end } of OUTAGES) {
    it(`${name} responds with 503 within 2 seconds, and recovers by itself`, async (t) => {
      const waitedMs = measureWaits(node);
      const running = load(kinds);
      await sleep(300);
      const beganMs = performance.now();
      await begin(cluster);
      await sleep(1_600);
      for (const kind of kinds) assertUnavailable(await timed(kind), waitedMs());
      const endedMs = performance.now();
      await end(cluster);
      await untilHealthy(node);
      const recoveredMs = performance.now();
      await sleep(300);

      const all = await running.stop();
      const failed = all.filter(({ kind, answer }) => answer.status !== kind.status);
      for (const one of failed) assertUnavailable(one, waitedMs());
      const longest = all.reduce((a, b) => (a.tookMs > b.tookMs ? a : b));
      assert.ok(longest.tookMs < MAX_MS + waitedMs(), `${longest.kind.name} took ${longest.tookMs} ms`);
      assert.ok(
        failed.every(({ begunMs, tookMs }) => begunMs + tookMs > beganMs && begunMs < recoveredMs + 100),
      );
      assert.deepEqual(new Set(failed.map(({ kind }) => kind)).size, kinds.length);
      for (const kind of kinds) assert.equal((await kind.send()).status, kind.status, kind.name);
      assert.ok(node.isRunning());
      assert.equal(node.errors(), '');
      const recoveryMs = Math.round(recoveredMs - endedMs);
      t.diagnostic(
        `longest ${Math.round(longest.tookMs)} ms; ${failed.length} refused; back after ${recoveryMs} ms`,
      );
    });
  }

  it('hangs again and again keeps no extra connections', async () => {
    for (let round = 0; round < 2; round++) {
      const running = load(kinds);
      await sleep(100);
      cluster.pause();
      await sleep(1_700);
      cluster.resume();
      await untilHealthy(node);
      await running.stop();
    }
    const side = new Side(cluster.url());
    let count: number;
    do count = (await side.connections()).length;
    while (count > POOL_SIZE + 2 && (await sleep(50, true)));
    await side.close();
    assert.ok(count <= POOL_SIZE + 2);
  });

  for (const { name, begin, end } of OUTAGES.filter(({ name }) => name !== 'is stopped')) {
    it(`${name} stops within 5 seconds and with exit code 0, with requests under way`, async () => {
      const [other] = (await startNodes(1, cluster.url())) as [Node];
      const others = await kindsOf(other);
      const waitedMs = measureWaits(other);
      await begin(cluster);
      const underWay = Promise.all([...others, ...others].map(timed));
      await sleep(500); // all have arrived
      const waitedBeforeMs = waitedMs(); // known only while it runs
      const begunMs = performance.now();
      const { code, signal, stderr } = await other.stop();
      const tookMs = performance.now() - begunMs;
      await end(cluster);
      for (const one of await underWay) assertUnavailable(one, waitedBeforeMs);
      assert.deepEqual(
        { code, signal, errors: other.errors() },
        { code: 0, signal: null, errors: '' },
        stderr,
      );
      assert.ok(tookMs < MAX_STOP_MS, `it took ${tookMs} ms`);
    });
  }
});
