// What nginx with deploy/nginx.conf does with a request that a node closes or cannot get: it goes to another node, and once more to any
// node before the client gets an error, but a change that a node may have executed is never sent again. The nodes here only count.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { after, before, beforeEach, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, assertError, Client } from '../support/client.ts';
import { type Balancer, startBalancer } from '../support/nginx.ts';
import { freePort } from '../support/process.ts';

type Mood = 'serves' | 'is loading' | 'breaks';

/** A node that notes what it gets, and closes the connection of some of that without a response. */
class CountingNode {
  readonly port: number;
  readonly seen: string[] = [];
  mood: Mood = 'serves';
  #server: Server | undefined;

  constructor(port: number) {
    this.port = port;
  }

  async start(): Promise<void> {
    this.#server = createServer((request, response) => {
      this.seen.push(request.method!);
      if (this.#breaks(request)) request.socket.destroy();
      else request.resume().on('end', () => response.end(`${this.port}`));
    }).listen(this.port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  stop(): void {
    this.#server?.close();
    this.#server?.closeAllConnections();
    this.#server = undefined;
  }

  #breaks({ method, headers }: IncomingMessage): boolean {
    if (this.mood === 'breaks') return true;
    return this.mood === 'is loading' && method === 'GET' && headers['x-next-upstream'] === 'yes';
  }
}

/** nginx counts a second as up to two. */
const FORGOTTEN_MS = 2_200;

export function balancerRules(): void {
  const nodes: CountingNode[] = [];
  let balancer: Balancer;
  let client: Client;

  before(async () => {
    nodes.push(new CountingNode(await freePort()), new CountingNode(await freePort()));
    balancer = await startBalancer([nodes[0]!.port, nodes[1]!.port]);
    client = new Client(balancer.url);
  });
  after(async () => {
    await balancer.stop();
    for (const node of nodes) node.stop();
  });
  beforeEach(async () => {
    for (const node of nodes) {
      node.stop();
      await node.start();
      node.mood = 'serves';
    }
    await sleep(FORGOTTEN_MS);
    for (const node of nodes) node.seen.length = 0;
  });

  const request: Record<string, () => Promise<Answer>> = {
    read: () => client.get('/v1/agents/me'),
    create: () => client.post('/v1/events', { title: 'a' }),
    change: () => client.patch('/v1/events/1', { title: 'b' }),
    delete: () => client.delete('/v1/events/1'),
    register: () => client.post('/v1/auth/register', {}),
  };
  const assertServed = (answer: Answer, { port }: CountingNode) =>
    assert.deepEqual([answer.status, answer.text], [200, `${port}`]);

  it('sends reads to the other node while one is loading, and changes to both', async () => {
    const [loading, other] = nodes as [CountingNode, CountingNode];
    loading.mood = 'is loading';
    for (let count = 0; count < 10; count++) assertServed(await request.read!(), other);
    await sleep(FORGOTTEN_MS);
    for (let count = 0; count < 4; count++) assert.equal((await request.change!()).status, 200);
    assert.deepEqual(new Set(loading.seen), new Set(['GET', 'PATCH']));
  });

  it('sends everything to the node that is loading if no other is left', async () => {
    const [loading, other] = nodes as [CountingNode, CountingNode];
    loading.mood = 'is loading';
    other.stop();
    for (let round = 0; round < 4; round++)
      for (const send of Object.values(request)) assertServed(await send(), loading);
    const expected = { PATCH: 4, DELETE: 4, POST: 8 };
    for (const [method, count] of Object.entries(expected))
      assert.equal(loading.seen.filter((seen) => seen === method).length, count, method);
  });

  it('sends a read or a create to the other node if one closes the connection', async () => {
    const [broken, other] = nodes as [CountingNode, CountingNode];
    broken.mood = 'breaks';
    for (let count = 0; count < 4; count++) assertServed(await request.read!(), other);
    await sleep(FORGOTTEN_MS);
    for (let count = 0; count < 4; count++) assertServed(await request.create!(), other);
    assert.ok(broken.seen.includes('GET') && broken.seen.includes('POST'));
  });

  for (const name of ['change', 'delete', 'register'])
    it(`sends a ${name} once if the connection is closed`, async () => {
      for (const node of nodes) node.mood = 'breaks';
      assertError(await request[name]!(), 503, 'UNAVAILABLE');
      assert.equal(nodes.flatMap(({ seen }) => seen).length, 1);
    });

  it('says that no node responds if there is none', async () => {
    for (const node of nodes) node.stop();
    for (const send of Object.values(request)) assertError(await send(), 503, 'UNAVAILABLE');
  });
}
