// The deadline of a response: whatever a request waits for, it gets one 503, and what comes later is not sent.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { findKeyHash } from '../../src/domain/api-key.ts';
import type { Searcher } from '../../src/domain/store.ts';
import { ResponseDeadline } from '../../src/http/admission/deadline.ts';
import { mcpHandler, toolServer } from '../../src/mcp/server.ts';
import { SqliteStore } from '../../src/sqlite/store.ts';
import { bareServer, contextOver, listen } from '../support/bare-server.ts';
import { Client, newEvent } from '../support/client.ts';
import { temporaryFolder } from '../support/service.ts';
import { assertPlainError } from './plain-error.ts';

/** Longer than any other request of this test takes on a busy machine. */
const DEADLINE_MS = 3_000;

describe('a response after its deadline', () => {
  const folder = temporaryFolder();
  const log: Record<string, unknown>[] = [];
  let store: SqliteStore;
  let agent: Client;
  /** The check of its key takes too long. */
  let other: Client;
  let eventPath: string;
  let agentId: string;
  const app = bareServer({
    logger: pino({ level: 'info' }, { write: (line: string) => void log.push(JSON.parse(line)) }),
    deadline: new ResponseDeadline(0, DEADLINE_MS),
    mcp: mcpHandler(toolServer('1.2.3')),
    readiness: () => ({ context: contextOver(store) }),
  });
  before(async () => {
    store = await SqliteStore.open({ folder, cacheBytes: 0 });
    const client = new Client(await listen(app), {
      authorization: 'Bearer x',
    });
    agent = await client.register();
    other = await client.register();
    const event = await agent.create();
    eventPath = `/v1/events/${event.event_id}`;
    agentId = event.agent_id;
  });
  after(async () => {
    await app.close();
    await store.close();
  });

  it('is a 503, whatever it waits for, and what comes later is dropped', async () => {
    const otherHash = findKeyHash(other.headers['x-api-key']!);
    const late: PromiseWithResolvers<never>[] = [];
    const stall = (method: keyof SqliteStore, isMeant: (argument: unknown) => boolean = () => true) => {
      const original = (store[method] as (...args: unknown[]) => unknown).bind(store);
      const stalled = (...args: unknown[]) => {
        if (!isMeant(args[0])) return original(...args);
        late.push(Promise.withResolvers<never>());
        return late.at(-1)!.promise;
      };
      Object.defineProperty(store, method, { value: stalled, configurable: true });
    };
    stall('findAgentByKey', (keyHash) => keyHash === otherHash);
    const methods = ['nearby', 'findEvent', 'createEvent', 'agentPage', 'agentEventPage'] as const;
    for (const method of methods) stall(method);
    const reads = [
      () => other.nearby(),
      () => agent.nearby(),
      () => agent.get(eventPath),
      () => agent.get('/v1/admin/agents?limit=2'),
    ];
    const create = () => agent.post('/v1/events', newEvent({ title: 'late' }));
    const list = () => agent.get(`/v1/admin/agents/${agentId}/events`);
    log.length = 0;
    const sent = [list, ...reads, ...reads, create, create].map((send) => send());
    for (const [at, answer] of (await Promise.all(sent)).entries()) {
      assertPlainError(answer, 503, 'UNAVAILABLE');
      const advice =
        at < 2 * reads.length + 1 ? 'Retry.' : 'The change may still happen: read it before you retry.';
      assert.equal(answer.body.error.message, `There is no result after 3 s. ${advice}`);
    }
    assert.equal(late.length, sent.length);
    for (const method of ['findAgentByKey', ...methods] as const)
      delete (store as Partial<SqliteStore>)[method];
    for (const [at, { resolve, reject }] of late.entries()) {
      if (at % 2 === 0) resolve(undefined as never);
      else reject(new Error('late'));
    }
    assert.equal((await agent.get(eventPath)).status, 200);
    assert.deepEqual(
      log.filter(({ msg }) => msg === 'request').map(({ status }) => status),
      [...sent.map(() => 503), 200],
    );
  });

  it('ends a long search, as does a client that leaves', async () => {
    const ended: PromiseWithResolvers<void>[] = [];
    const nearby = (_query: unknown, _nowMs: number, { signal }: Searcher) => {
      const end = Promise.withResolvers<void>();
      ended.push(end);
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          end.resolve();
          reject(signal.reason);
        });
      });
    };
    Object.defineProperty(store, 'nearby', { value: nearby, configurable: true });
    const call = { name: 'search_events', arguments: { lat: 0, lng: 0, q: 'jaz*' } };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call };
    const searches = [
      (client: Client) => client.nearby({ q: 'jaz*' }),
      (client: Client) => client.nearby({ q: 'jaz*', format: 'ics' }),
      (client: Client) =>
        client.with({ accept: 'application/json, text/event-stream' }).post('/mcp', message),
    ];
    for (const search of searches) {
      assertPlainError(await search(agent), 503, 'UNAVAILABLE');
      await ended.at(-1)!.promise;
      const leaving = new AbortController();
      const left = fetch(`${agent.url}/v1/events/nearby?lat=0&lng=0&q=jaz*`, {
        headers: agent.headers,
        signal: leaving.signal,
      }).catch(() => 'left');
      const before = ended.length;
      while (ended.length === before) await nextTurn();
      leaving.abort();
      assert.equal(await left, 'left');
      await ended.at(-1)!.promise;
    }
    delete (store as Partial<SqliteStore>).nearby;
    assert.equal((await agent.nearby({ q: 'jaz*' })).status, 200);
  });
});
