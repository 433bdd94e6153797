// A list of events that is larger than any string and too large for memory: it is sent while it is read, at the pace of the
// client, while the service keeps serving others.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { readConfig } from '../../src/config.ts';
import { AppError } from '../../src/domain/errors.ts';
import { getSigningKey } from '../../src/engines.ts';
import { mintToken } from '../../src/oidc/local-issuer.ts';
import { openForWriting } from '../../src/sqlite/connection.ts';
import { databasePath } from '../../src/sqlite/files/data-folder.ts';
import { SqliteStore } from '../../src/sqlite/store.ts';
import { bareServer, contextOver, listen } from '../support/bare-server.ts';
import { launchService } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';
import { size } from '../support/sizes.ts';

const AGENT_ID = '0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90';
const PATH = `/v1/admin/agents/${AGENT_ID}/events`;
/** A character that takes six bytes in JSON: 10,000 of them make an event of 60 KB. */
const ESCAPED = '\\u0001';
const DESCRIPTION_CHARS = 10_000;
/** Growth of a process that sends the list while it reads it: about 50 MB. */
const MAX_GROWTH_MB = size(110, 200);

/** A data folder with one agent and `count` events: three share each start, and they are inserted in another order. */
function folderWithEvents(count: number): string {
  const folder = temporaryFolder();
  const database = openForWriting(databasePath(folder), 'bulk');
  database
    .prepare("INSERT INTO agents VALUES (?, 'agent@example.com', 'many', 'readwrite', 1, 0, NULL, ?, 0)")
    .run(AGENT_ID, count);
  database
    .prepare(
      `WITH RECURSIVE number(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < ${count})
      INSERT INTO events (event_id, agent_id, version, title, start_ms, lat, lng, audience, event_type, timezone, status, updated_ms, json)
      SELECT printf('01J%023d', at), ?, 1, 'event ' || at, at / 3, 52.52, 13.405, 'all', 'talk', 'UTC', 'scheduled', 0,
        json_object('event_id', printf('01J%023d', at), 'description', replace(printf('%.${DESCRIPTION_CHARS}c', 'x'), 'x', char(1)))
      FROM (SELECT (n * 7919) % ${count} AS at FROM number)`,
    )
    .run(AGENT_ID);
  database.close();
  return folder;
}

function idsOf(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `01J${String(at).padStart(23, '0')}`);
}

/** Sends a request over a new connection and reads only the head of the response. */
async function open(url: string, token: string, method = 'GET'): Promise<IncomingMessage> {
  const sent = request(url + PATH, { method, agent: false, headers: { authorization: `Bearer ${token}` } });
  sent.end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return answer;
}

/** The body without its escaped characters, so that it is small enough to parse, and the number of those characters. */
async function readStripped(answer: IncomingMessage) {
  let text = '';
  let rest = '';
  let escapes = 0;
  for await (const chunk of answer.setEncoding('utf8')) {
    rest += chunk;
    const lastEscape = rest.lastIndexOf('\\');
    const end = lastEscape > rest.length - ESCAPED.length ? lastEscape : rest.length;
    const complete = rest.slice(0, Math.max(end, 0));
    const stripped = complete.replaceAll(ESCAPED, '');
    escapes += (complete.length - stripped.length) / ESCAPED.length;
    text += stripped;
    rest = rest.slice(complete.length);
  }
  return { body: JSON.parse(text + rest), escapes };
}

/** The list is larger than MAX_GROWTH_MB; in the long suite also larger than any string. */
const COUNT = size(2_500, 9_000);

describe(`the list of ${COUNT} events of 60 KB each`, () => {
  let service: Awaited<ReturnType<typeof launchService>>;
  let token: string;
  before(async () => {
    const env = { DATA_DIR: folderWithEvents(COUNT) };
    service = await launchService(env);
    const key = await getSigningKey(readConfig(env));
    token = await mintToken(key, { email: 'admin@example.com', name: 'Ada', hours: 1 }, Date.now());
  });
  after(async () => {
    service.child.kill();
    await service.ended;
  });

  function residentMegabytes(): number {
    const status = readFileSync(`/proc/${service.child.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) / 1_024;
  }

  async function assertHealthy(): Promise<void> {
    const answer = await fetch(`${service.url}/health`);
    assert.equal(answer.status, 200, await answer.text());
  }

  it('waits for a client that does not read, without using more memory', async () => {
    const beforeMb = residentMegabytes();
    const answer = await open(service.url, token);
    assert.equal(answer.statusCode, 200);
    // Each round gives the list time for at least one more page, and it has fewer pages than there are rounds.
    for (let round = 0; round < COUNT / 6; round++) await assertHealthy();
    const growthMb = residentMegabytes() - beforeMb;
    assert.ok(growthMb < MAX_GROWTH_MB, `${growthMb} MB`);
    answer.destroy();
  });

  it('is complete and in order, uses little memory, and does not block /health', async () => {
    const beforeMb = residentMegabytes();
    const answer = await open(service.url, token);
    assert.equal(answer.statusCode, 200);
    assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
    let isRead = false;
    const reading = readStripped(answer).finally(() => {
      isRead = true;
    });
    let mostMb = 0;
    let healthy = 0;
    for (; !isRead; healthy++) {
      await assertHealthy();
      mostMb = Math.max(mostMb, residentMegabytes());
    }
    const { body, escapes } = await reading;
    assert.deepEqual(Object.keys(body), ['agent', 'events']);
    assert.deepEqual([body.agent.id, body.agent.event_count], [AGENT_ID, COUNT]);
    assert.deepEqual(
      body.events.map((event: { event_id: string }) => event.event_id),
      idsOf(COUNT),
    );
    assert.equal(escapes, COUNT * DESCRIPTION_CHARS);
    assert.ok(mostMb - beforeMb < MAX_GROWTH_MB, `${mostMb - beforeMb} MB`);
    assert.ok(healthy >= 10, `${healthy} answers`);
  });
});

describe('a long list', () => {
  const COUNT = 1_500;
  const folder = folderWithEvents(COUNT);
  const log: Record<string, unknown>[] = [];
  /** Events of the current list that have been read from the store. */
  let eventsRead = 0;
  let store: SqliteStore;
  let url: string;
  const app = bareServer({
    logger: pino({ level: 'info' }, { write: (line: string) => void log.push(JSON.parse(line)) }),
    readiness: () => ({ context: contextOver(store) }),
  });
  before(async () => {
    store = await SqliteStore.open({ folder, cacheBytes: 0 });
    const read = store.agentEventPage.bind(store);
    store.agentEventPage = async (agentId, query, nowMs) => {
      if (!query.after) eventsRead = 0;
      const page = await read(agentId, query, nowMs);
      eventsRead += page.items.length;
      return page;
    };
    url = await listen(app);
  });
  after(async () => {
    await app.close();
    await store.close();
  });

  /** Waits for the end of the current request; returns and removes its log lines. */
  async function takeLog(): Promise<Record<string, unknown>[]> {
    while (!log.some((line) => line.msg === 'request'))
      await new Promise((resolve) => setTimeout(resolve, 2));
    return log.splice(0);
  }

  /** Waits as long as the whole list would take. */
  async function assertReadNoFurther(): Promise<void> {
    await sleep(1_000);
    assert.ok(eventsRead < COUNT, `${eventsRead} read`);
  }

  it('is read to its end for a client that reads it', async () => {
    const { body } = await readStripped(await open(url, 'x'));
    assert.equal(body.events.length, COUNT);
    assert.equal(eventsRead, COUNT);
    assert.deepEqual(
      (await takeLog()).map((line) => [line.level, line.status]),
      [[30, 200]],
    );
  });

  it('is read no further once the client has hung up', async () => {
    const answer = await open(url, 'x');
    await once(answer, 'readable');
    answer.destroy();
    assert.deepEqual(
      (await takeLog()).map((line) => [line.level, line.status]),
      [[30, 499]],
    );
    await assertReadNoFurther();
  });

  it('is not read to its end for a HEAD, which has all headers but the length', async () => {
    const head = await open(url, 'x', 'HEAD');
    assert.deepEqual(await Array.fromAsync(head), []);
    assert.equal(head.statusCode, 200);
    assert.equal(head.headers['content-type'], 'application/json; charset=utf-8');
    assert.equal(head.headers['content-length'], undefined);
    assert.deepEqual(
      (await takeLog()).map((line) => [line.level, line.status]),
      [[30, 200]],
    );
    await assertReadNoFurther();
  });

  it('breaks off when the store fails midway, and logs the cause once', async () => {
    const read = store.agentEventPage;
    store.agentEventPage = async (...args) => {
      if (eventsRead > COUNT / 2)
        throw new AppError('UNAVAILABLE', 'The store could not be read. Retry.', { cause: 'disk' });
      return read(...args);
    };
    const answer = await open(url, 'x');
    await assert.rejects(readStripped(answer), { code: 'ECONNRESET' });
    const lines = await takeLog();
    assert.deepEqual(
      lines.map((line) => line.level),
      [50, 30],
    );
    assert.match(JSON.stringify(lines[0]), /could not be read/);
    assert.equal(lines[0]!.requestId, 'ABCDEFGH-1');
  });
});
