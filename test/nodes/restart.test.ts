// Restarts under load. Two nodes behind nginx with deploy/nginx.conf are restarted one after the other, as docs/operations.md says: no
// request fails, although each node has many events to load, half of the requests are writes, and there are as many as the machine can
// carry. With the embedded engine there is one gap.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, Client, newEvent } from '../support/client.ts';
import { startBalancer } from '../support/nginx.ts';
import { newDatabase } from '../support/postgres.ts';
import { freePort, launchService, type RunningProcess, run } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';
import { size } from '../support/sizes.ts';
import { balancerRules } from './balancer-rules.ts';
import { storeEvents } from './many-events.ts';

const RESTARTS = size(1, 4);
const MIN_REQUESTS = size(200, 20_000);
/** Other events than those that the callers create. */
const STORED = size(1_000, 200_000);
/** Each from another address, as clients of a load balancer are. */
const LOOPS = 16;
/** Of all callers together, if the machine can carry them. */
const REQUESTS_PER_SECOND = 600;

/** What happens to the nodes. */
let phase = '';

interface Failure {
  readonly name: string;
  readonly during: string;
  readonly reason: string;
}

/** Sends requests one after another on a connection of its own, every other one a write; every eighth search is for words. */
class Caller {
  readonly #agent: Agent;
  readonly #url: string;
  readonly #key: string;
  readonly created: string[] = [];
  readonly failures: Failure[] = [];
  count = 0;
  constructor(url: string, key: string, number: number) {
    this.#url = url;
    this.#key = key;
    this.#agent = new Agent({ keepAlive: true, maxSockets: 1, localAddress: `127.0.0.${number + 2}` });
  }

  async run(isStopped: () => boolean): Promise<void> {
    while (!isStopped()) {
      const text = await this.#send('POST', '/v1/events', newEvent());
      const id = text === undefined ? undefined : (JSON.parse(text).event_id as string);
      if (id !== undefined) this.created.push(id);
      const isForWords = this.created.length % 8 === 0;
      await this.#send('GET', `/v1/events/nearby?lat=0&lng=0&radius=${isForWords ? '50&q=friends' : 10}`);
      if (id === undefined) continue;
      await this.#send('PATCH', `/v1/events/${id}`, { cost: 'free' });
      await this.#send('GET', `/v1/events/${id}`);
      if (this.created.length % 4 !== 0) continue;
      await this.#send('DELETE', `/v1/events/${id}`);
      this.created.pop();
      await this.#send('GET', '/v1/agents/me');
    }
    this.#agent.destroy();
  }

  /** Returns the body; undefined if the request failed. */
  async #send(method: string, path: string, body?: object): Promise<string | undefined> {
    this.count++;
    const begun = phase;
    const nextMs = performance.now() + (1_000 * LOOPS) / REQUESTS_PER_SECOND;
    const headers = { 'x-api-key': this.#key, ...(body && { 'content-type': 'application/json' }) };
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const fail = (reason: string) => reject(new Error(reason));
    const sent = request(this.#url + path, { method, headers, agent: this.#agent });
    sent.on('error', (error: NodeJS.ErrnoException) => fail(`${error.code} ${error.message}`));
    sent.on('response', (response: IncomingMessage) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', (error) => fail(error.message));
      response.on('end', () =>
        response.statusCode! < 300 ? resolve(text) : fail(`${response.statusCode} ${text}`),
      );
    });
    sent.end(body && JSON.stringify(body));
    try {
      return await promise;
    } catch (error) {
      const name = `${method} ${path}`;
      this.failures.push({ name, during: `${begun}, then ${phase}`, reason: (error as Error).message });
      return undefined;
    } finally {
      await sleep(Math.max(0, nextMs - performance.now()));
    }
  }
}

/** As an operator waits before restarting the next node. */
async function untilReady(port: number): Promise<void> {
  const client = new Client(`http://127.0.0.1:${port}`);
  while ((await client.get('/ready')).status !== 200) await sleep(100);
}

it(`${RESTARTS} restarts of two nodes with ${STORED} events behind nginx fail no request`, {
  timeout: 900_000,
}, async (t) => {
  const DATABASE_URL = await newDatabase();
  await storeEvents(DATABASE_URL, STORED);
  const ports = [await freePort(), await freePort()] as const;
  const env = { DATABASE_URL, TRUST_PROXY: '127.0.0.1', LOG_LEVEL: 'warn', RATE_LIMIT_READWRITE: '0' };
  const started: RunningProcess[] = [];
  const start = async (port: number) => {
    const node = await launchService({ ...env, PORT: String(port) });
    started.push(node);
    t.after(() => node.child.kill('SIGKILL'));
    return node;
  };
  const nodes = await Promise.all(ports.map(start));
  for (const port of ports) await untilReady(port);
  const balancer = await startBalancer(ports);
  t.after(() => balancer.stop());
  const { headers } = await new Client(balancer.url).register();

  let isStopped = false;
  t.after(() => {
    isStopped = true;
  });
  const callers = Array.from(
    { length: LOOPS },
    (_, number) => new Caller(balancer.url, headers['x-api-key']!, number),
  );
  const loops = Promise.all(callers.map((caller) => caller.run(() => isStopped)));
  const sum = (of: (caller: Caller) => number) => callers.reduce((total, caller) => total + of(caller), 0);
  const until = async (count: number) => {
    while (sum((caller) => caller.count) < count) await sleep(50);
  };
  const startedMs = performance.now();
  for (let restart = 0; restart < RESTARTS; restart++) {
    await until((MIN_REQUESTS * restart) / RESTARTS);
    const at = restart % 2;
    phase = `restart ${restart}: stopping`;
    nodes[at]!.child.kill('SIGTERM');
    const { code, stdout } = await nodes[at]!.ended;
    assert.equal(code, 0, stdout);
    phase = `restart ${restart}: starting`;
    nodes[at] = await start(ports[at]!);
    phase = `restart ${restart}: loading`;
    await untilReady(ports[at]!);
    phase = `after restart ${restart}`;
  }
  await until(MIN_REQUESTS);
  isStopped = true;
  await loops;

  const seconds = Math.round((performance.now() - startedMs) / 1_000);
  const count = sum((caller) => caller.count);
  const rate = Math.round(count / seconds);
  t.diagnostic(`${count} requests in ${seconds} s (${rate}/s), ${RESTARTS} restarts`);
  assert.deepEqual(
    callers.flatMap(({ failures }) => failures),
    [],
    [balancer.errors(), ...started.map(({ output }) => output().stdout)].join('\n'),
  );
  const { body } = await new Client(balancer.url, headers).nearby();
  assert.equal(
    body.total,
    STORED + sum((caller) => caller.created.length),
    'every acknowledged create is there, once',
  );
  for (const { child, ended } of nodes) {
    child.kill('SIGINT');
    assert.equal((await ended).code, 0);
  }
});

const EVENTS = size(1_000, 100_000);

it(`a restart with ${EVENTS} events is one gap, and loses no acknowledged create`, {
  timeout: 300_000,
}, async (t) => {
  const folder = temporaryFolder();
  const DATA_DIR = join(folder, 'data');
  const file = join(folder, 'events.ndjson');
  const lines = Array.from({ length: EVENTS }, () => JSON.stringify(newEvent()));
  writeFileSync(file, lines.join('\n'));
  const options = ['--email', 'agent@example.com', '--name', 'an agent'];
  const imported = await run(['import', file, ...options], { DATA_DIR });
  assert.equal(imported.code, 0, imported.stderr);

  const env = { DATA_DIR, PORT: String(await freePort()), RATE_LIMIT_READWRITE: '0' };
  let service = await launchService(env);
  t.after(() => service.child.kill('SIGKILL'));
  const agent = await new Client(service.url).register();
  const outcomes: { readonly endMs: number; readonly status: number | undefined }[] = [];
  let isStopped = false;
  const writing = (async () => {
    while (!isStopped) {
      const answer: Answer | undefined = await agent.post('/v1/events', newEvent()).catch(() => undefined);
      outcomes.push({ endMs: performance.now(), status: answer?.status });
      await sleep(2);
    }
  })();
  await sleep(300);
  service.child.kill('SIGTERM');
  assert.equal((await service.ended).code, 0);
  service = await launchService(env);
  await sleep(300);
  isStopped = true;
  await writing;

  // While it starts, it may already listen and say so.
  assert.deepEqual(
    outcomes.filter(({ status }) => status !== 200 && status !== 503 && status !== undefined),
    [],
  );
  const changes = outcomes.filter(
    ({ status }, at) => at > 0 && (status === 200) !== (outcomes[at - 1]!.status === 200),
  );
  assert.equal(changes.length, 2, 'it works, then it does not, then it works');
  const last = outcomes[outcomes.indexOf(changes[0]!) - 1]!;
  t.diagnostic(`${EVENTS} events: ${Math.round(changes[1]!.endMs - last.endMs)} ms without a response 200`);
  const { body } = await agent.get('/v1/agents/me/events');
  assert.ok(body.total >= outcomes.filter(({ status }) => status === 200).length);
  service.child.kill('SIGTERM');
  assert.equal((await service.ended).code, 0);
});

describe('nginx with deploy/nginx.conf', balancerRules);
