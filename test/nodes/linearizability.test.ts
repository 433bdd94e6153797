// Three nodes, each a real process, and 20 clients on any of them: the history of their writes and searches is linearizable, also
// when a node is killed, and when the primary is killed and its synchronous standby promoted.
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Clients, type TestNode, Torn } from '../linearizability/clients.ts';
import { findViolations } from '../linearizability/history.ts';
import { type Client, newEvent } from '../support/client.ts';
import { startCluster } from '../support/postgres-cluster.ts';
import { size } from '../support/sizes.ts';
import { registerOnAll, startNodes } from './nodes.ts';

const CLIENTS = 20;
const SECONDS = size(5, 30);
const PLACE = { lat: -48.876, lng: -123.393 };
const BEGINS_MS = Date.parse('2031-05-01T12:00:00Z');

/** Every version starts at another time, so that index and JSON can be compared. */
const startOf = (version: number) => new Date(BEGINS_MS + version * 1_000).toISOString();

/** A node as its clients see it. */
class HttpNode implements TestNode<string> {
  readonly name: string;
  readonly #client: Client;

  constructor(name: string, client: Client) {
    this.name = name;
    this.#client = client;
  }

  async create(object: string): Promise<string> {
    const event = newEvent({ ...PLACE, title: `${object} v1`, start_at: startOf(1) });
    const { status, body } = await this.#client.post('/v1/events', event);
    if (status !== 200) throw new Error(`${status}`);
    return `${body.event_id} ${object}`;
  }

  async change(stored: string, version: number): Promise<string> {
    const [id, object] = stored.split(' ');
    const update = { title: `${object} v${version}`, start_at: startOf(version) };
    const { status } = await this.#client.patch(`/v1/events/${id}`, update);
    if (status !== 200) throw new Error(`${status}`);
    return stored;
  }

  async remove(stored: string): Promise<void> {
    const { status } = await this.#client.delete(`/v1/events/${stored.split(' ')[0]}`);
    if (status !== 204) throw new Error(`${status}`);
  }

  async search(): Promise<ReadonlyMap<string, number>> {
    const { status, body } = await this.#client.nearby({ ...PLACE, radius: 1, limit: 100 });
    if (status !== 200) throw new Error(`${status}`);
    const events = body.events as { title: string; start_at: string }[];
    if (events.length !== body.total) throw new Torn(`${events.length} events of ${body.total}`);
    const starts = events.map(({ start_at }) => Date.parse(start_at));
    if (starts.some((start, at) => at > 0 && start < starts[at - 1]!)) throw new Torn('not in order');
    return new Map(
      events.map(({ title, start_at }) => {
        const [object, version] = title.split(' v');
        if (Date.parse(start_at) !== Date.parse(startOf(Number(version))))
          throw new Torn(`${title} at ${start_at}`);
        return [object!, Number(version)];
      }),
    );
  }
}

/** Lets clients work on three nodes until `disturb` ends, and checks their history. */
async function run(
  test: TestContext,
  url: string,
  disturb: (nodes: HttpNode[], processes: Awaited<ReturnType<typeof startNodes>>) => Promise<void>,
): Promise<void> {
  const processes = await startNodes(3, url);
  test.after(() => Promise.all(processes.map((node) => node.stop('SIGKILL'))));
  const agents = await registerOnAll(processes);
  const nodes = agents.map((agent, number) => new HttpNode(`node ${number}`, agent));
  await sleep(1_000); // until all have their events in memory
  const clients = new Clients(CLIENTS, () => nodes, 11);
  await disturb(nodes, processes).finally(() => clients.stop());
  const { writes, searches, failed } = clients;
  test.diagnostic(`${writes.length} writes and ${searches.length} searches, ${failed.length} failed`);
  assert.ok(searches.length > 50 && writes.length > 50);
  assert.deepEqual(findViolations(writes, searches), []);
}

describe(`${CLIENTS} clients of three nodes see a linearizable history`, { timeout: 600_000 }, () => {
  it(`for ${SECONDS} seconds, in which a node is killed`, async (test) => {
    const cluster = await startCluster();
    test.after(() => cluster.remove());
    await run(test, cluster.url(), async (nodes, processes) => {
      await sleep(SECONDS * 500);
      nodes.pop();
      await processes[2]!.stop('SIGKILL');
      await sleep(SECONDS * 500);
    });
  });

  it('beside a failover to a synchronous standby', async (test) => {
    const primary = await startCluster();
    test.after(() => primary.remove());
    const standby = await primary.startStandby();
    test.after(() => standby.remove());
    const url = `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`;
    await run(test, url, async () => {
      await sleep(SECONDS * 300);
      await primary.kill9();
      await sleep(500);
      await standby.promote();
      await sleep(SECONDS * 500);
    });
  });
});
