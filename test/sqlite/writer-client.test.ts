// The main thread's client of the writer, with a real thread: group commit, order, and the errors that callers get when a
// commit fails or the thread has died.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { AppError, StartError } from '../../src/domain/errors.ts';
import { SqliteStore } from '../../src/sqlite/store.ts';
import { WriterClient } from '../../src/sqlite/threads/writer-client.ts';
import {
  addAgent,
  addEvent,
  assertEvents,
  assertRecord,
  auditOf,
  NOW_MS,
  newAgentRow,
  newEventRow,
  newKey,
  search,
} from '../store/rows.ts';
import { temporaryFolder } from '../support/service.ts';
import { countCommits, execute, readRows } from './files.ts';

const newPath = () => join(temporaryFolder(), 'client.db');
const isUnavailable = (error: unknown) => error instanceof AppError && error.code === 'UNAVAILABLE';

/** The result of `open`, and the threads that it starts: the writer, then the reader. */
async function withThreads<T>(open: () => Promise<T>): Promise<[T, ...Worker[]]> {
  const threads: Worker[] = [];
  const note = (thread: Worker) => threads.push(thread);
  process.on('worker', note);
  const opened = await open();
  process.off('worker', note);
  return [opened, ...threads];
}

describe('the writer client', () => {
  it('collects calls that arrive during a batch and commits them together in the next', async () => {
    const path = newPath();
    const client = await WriterClient.start(path);
    const commits = countCommits(path);
    await Promise.all(
      Array.from({ length: 300 }, () => client.run('addAgent', [newAgentRow(), newKey()], () => {})),
    );
    assert.equal(countCommits(path), commits + 2); // the first one alone, the others together
    await client.close();
    assert.equal(readRows(path, 'SELECT count(*) AS count FROM agents')[0].count, 300);
  });

  it('applies outcomes in the order of the commits, each before its call resolves', async () => {
    const client = await WriterClient.start(newPath());
    const applied: number[] = [];
    const answered: number[] = [];
    const calls = Array.from({ length: 1_200 }, async (_, at) => {
      await client.run('ping', [], () => applied.push(at));
      assert.ok(applied.includes(at));
      answered.push(at);
    });
    await Promise.all(calls);
    const inOrder = Array.from({ length: 1_200 }, (_, at) => at);
    assert.deepEqual(applied, inOrder);
    assert.deepEqual(answered, inOrder);
    await client.close();
  });

  it('lets other work run while it applies outcomes that take long, and keeps their order', async () => {
    const client = await WriterClient.start(newPath());
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    const applied: number[] = [];
    const turnsAt: number[] = [];
    const apply = (at: number) => () => {
      applied.push(at);
      turnsAt.push(turns);
      for (const untilMs = performance.now() + 2; performance.now() < untilMs; );
    };
    const calls = Array.from({ length: 200 }, (_, at) => client.run('ping', [], apply(at)));
    count();
    await Promise.all(calls.slice(0, 100));
    const later = Array.from({ length: 50 }, (_, at) => client.run('ping', [], apply(200 + at)));
    await Promise.all([...calls, ...later]);
    isOver = true;
    await client.close();
    assert.deepEqual(
      applied,
      Array.from({ length: 250 }, (_, at) => at),
    );
    // 2 ms each: at most three in a turn.
    for (let at = 3; at < 199; at++) assert.ok(turnsAt[at]! > turnsAt[at - 3]!, `${turnsAt}`);
  });

  it('rejects a call that breaks a constraint, and no other call of the batch', async () => {
    const client = await WriterClient.start(newPath());
    const key = newKey();
    const outcomes = await Promise.allSettled([
      client.run('ping', [], () => 'first'),
      client.run('addAgent', [newAgentRow(), key], () => 'second'),
      client.run('addAgent', [newAgentRow(), key], () => 'third'),
      client.run('addAgent', [newAgentRow(), newKey()], () => 'fourth'),
    ]);
    assert.deepEqual(
      outcomes.map((outcome) => ('value' in outcome ? outcome.value : outcome.status)),
      ['first', 'second', 'rejected', 'fourth'],
    );
    await client.close();
  });

  it('rejects a call whose outcome cannot be applied, and settles the others of the batch', async () => {
    const client = await WriterClient.start(newPath());
    const fault = new RangeError('cannot be applied');
    const first = client.run('ping', [], () => {}); // the next two share a batch
    const failing = client.run('ping', [], () => {
      throw fault;
    });
    const last = client.run('ping', [], () => 'applied');
    await first;
    await assert.rejects(failing, fault);
    assert.equal(await last, 'applied');
    await client.close();
  });

  it('finishes the calls it has accepted when it is closed, and rejects later ones', async () => {
    const path = newPath();
    const client = await WriterClient.start(path);
    const agents = Array.from({ length: 600 }, () => newAgentRow());
    const adding = agents.map((agent) => client.run('addAgent', [agent, newKey()], () => {}));
    await client.close();
    await Promise.all(adding);
    assert.equal(readRows(path, 'SELECT count(*) AS count FROM agents')[0].count, 600);
    await assert.rejects(
      client.run('ping', [], () => {}),
      isUnavailable,
    );
    await client.close();
  });

  it('rejects running, waiting and new calls with UNAVAILABLE when the thread has died', async () => {
    const [client, thread] = await withThreads(() => WriterClient.start(newPath()));
    let applied = 0;
    const calls = Array.from({ length: 2_000 }, () =>
      client.run('addAgent', [newAgentRow(), newKey()], () => applied++),
    );
    const settled = Promise.allSettled(calls);
    await thread!.terminate();
    const rejected = (await settled).filter((outcome) => outcome.status === 'rejected');
    assert.ok(rejected.length > 0);
    assert.ok(rejected.every((outcome) => isUnavailable(outcome.reason)));
    assert.equal(applied, 2_000 - rejected.length);
    await assert.rejects(
      client.run('ping', [], () => {}),
      isUnavailable,
    );
    await client.close();
  });

  it('refuses to start on a file that is not a database, and says so', async () => {
    const path = newPath();
    writeFileSync(path, 'this is no database, however long one looks at it'.repeat(100));
    await assert.rejects(WriterClient.start(path), (error: Error) => {
      assert.ok(error instanceof StartError);
      assert.match(error.message, /client\.db/);
      assert.match(error.message, /file is not a database/);
      return true;
    });
  });
});

describe('the store, when its event reader has died', () => {
  it('rejects uncached reads and checks with UNAVAILABLE, and still writes', async () => {
    const folder = temporaryFolder();
    const [store, , reader] = await withThreads(() => SqliteStore.open({ folder, cacheBytes: 1_000 }));
    const { agent } = await addAgent(store);
    const large = await addEvent(store, agent, { description: 'x'.repeat(2_000) });
    const small = await addEvent(store, agent, { start_ms: large.start_ms + 1 });
    await reader!.terminate();
    await assert.rejects(store.check(), isUnavailable);
    await assert.rejects(store.findEvent(large.event_id), isUnavailable);
    await assert.rejects(store.nearby(search(), NOW_MS), isUnavailable);
    assertRecord(await store.findEvent(small.event_id), small);
    assert.equal(await store.deleteEvent(large.event_id, agent.agent_id), true);
    assertEvents((await store.nearby(search(), NOW_MS)).events, [small]);
    await store.close();
  });
});

describe('the store, when its writer fails', () => {
  const newStore = () => SqliteStore.open({ folder: temporaryFolder(), cacheBytes: 1_000_000 });

  it('rejects writes and checks with UNAVAILABLE, and still reads, when the thread has died', async () => {
    const [store, thread] = await withThreads(newStore);
    const { agent, key } = await addAgent(store);
    const row = await addEvent(store, agent);
    await thread!.terminate();
    await assert.rejects(store.check(), isUnavailable);
    await assert.rejects(store.createEvent(newEventRow(agent), 0), isUnavailable);
    await assert.rejects(store.deleteEvent(row.event_id, agent.agent_id), isUnavailable);
    assert.deepEqual(await store.findAgentByKey(key.hash, NOW_MS), agent);
    assertRecord(await store.findEvent(row.event_id), row);
    assert.equal((await store.nearby(search(), NOW_MS)).total, 1);
    await store.close();
  });

  it('rejects a whole batch with UNAVAILABLE if its commit fails, shows none of it, and works again', async () => {
    const folder = temporaryFolder();
    const store = await SqliteStore.open({ folder, cacheBytes: 1_000_000 });
    const { agent } = await addAgent(store);
    const { agent: watched, key } = await addAgent(store);
    const [changed, removed] = [await addEvent(store, agent), await addEvent(store, agent)];
    execute(
      join(folder, 'local-events.db'),
      `CREATE TABLE watch (key_hash TEXT REFERENCES keys DEFERRABLE INITIALLY DEFERRED);
       INSERT INTO watch VALUES ('${key.hash}');`,
    );
    const row = newEventRow(agent);
    const [checked, ...outcomes] = await Promise.allSettled([
      store.check(),
      store.createEvent(row, 0),
      store.replaceEvent({ ...changed, version: 2, cost: 'more' }),
      store.deleteEvent(removed.event_id, agent.agent_id),
      store.deleteAll(watched.agent_id, auditOf('delete_agent', watched.agent_id), true),
    ]);
    assert.equal(checked.status, 'fulfilled');
    for (const outcome of outcomes) assert.ok(outcome.status === 'rejected' && isUnavailable(outcome.reason));
    assert.equal(await store.findEvent(row.event_id), undefined);
    assert.equal((await store.findEvent(changed.event_id))?.version, 1);
    assert.deepEqual(await store.findAgentByKey(key.hash, NOW_MS), watched);
    const page = await store.nearby(search(), NOW_MS);
    assertEvents(page.events, [changed, removed]);
    assert.equal((await store.createEvent(row, 0)).kind, 'created');
    await store.close();
  });
});
