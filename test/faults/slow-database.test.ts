// A database that does not finish statements, because another session holds a lock: every request gets a response, a result or
// an honest 503, no connection is cut, and the log does not say that clients left. Deadlines nest: search, statement, response,
// connection.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Node, startNodes } from '../nodes/nodes.ts';
import { Side } from '../postgres/side.ts';
import { type Answer, newEvent } from '../support/client.ts';
import { newDatabase } from '../support/postgres.ts';
import { size } from '../support/sizes.ts';

/** The defaults in the long run. */
const ENV: Record<string, string> = {
  LOG_LEVEL: 'info',
  ...size({ DATABASE_STATEMENT_TIMEOUT_MS: '1000' }, {}),
};
const LOCK_MS = size(3_000, 14_000);
const LOOPS = 32;

/** Locks tables, against everything unless a mode says otherwise. Resolves when they are locked. They stay so for `ms`; `released` resolves after that. */
async function lock(side: Side, tables: string, ms: number): Promise<{ released: Promise<void> }> {
  const { release } = await side.hold((sql) => sql.unsafe(`LOCK TABLE ${tables}`));
  return { released: sleep(ms).then(release) };
}

function assertHonest(name: string, { status, headers, text, body }: Answer): void {
  if (status === 200) return;
  assert.equal(status, 503, `${name}: ${text}`);
  assert.match(body.error.code, /^(?:UNAVAILABLE|OVERLOADED)$/, text);
  assert.match(headers.get('retry-after') ?? 'none', /^[1-9]\d*$/, name);
}

interface LogLine {
  readonly status?: number;
  readonly msg: string;
}

/** Stops the node and returns the statuses in its log. */
async function loggedStatuses(node: Node): Promise<Set<number>> {
  const { stdout, code } = await node.stop();
  assert.equal(code, 0);
  const lines = stdout.trim().split('\n');
  const all = lines.map((line) => JSON.parse(line) as LogLine).filter(({ msg }) => msg === 'request');
  return new Set(all.map(({ status }) => status!));
}

describe('while another session locks', { timeout: 180_000 }, () => {
  for (const [tables, search] of size(
    [['events', 'database']],
    [
      ['events', 'database'],
      ['events', 'memory'],
      ['agents', 'memory'],
      ['events, agents, quotas', 'memory'],
    ],
  ) as [string, string][]) {
    it(`${tables}, every request gets a result or a 503; searches use the ${search}`, async (t) => {
      const url = await newDatabase();
      const env = { ...ENV, SEARCH: search, RATE_LIMIT_READWRITE: '1000000' };
      const [node] = (await startNodes(1, url, env)) as [Node];
      t.after(() => node.stop('SIGKILL'));
      const side = new Side(url);
      t.after(() => side.close());
      const agent = await node.client.register();
      const { event_id } = await agent.create();
      const kinds: [string, () => Promise<Answer>][] = [
        ['search', () => agent.nearby({ radius: 10 })],
        ['read', () => agent.get(`/v1/events/${event_id}`)],
        ['create', () => agent.post('/v1/events', newEvent())],
        ['change', () => agent.patch(`/v1/events/${event_id}`, { cost: String(Math.random()) })],
        ['own events', () => agent.get('/v1/agents/me/events')],
        ['agents', () => node.administrator.get('/v1/admin/agents')],
      ];
      const seen: string[] = [];
      let isLocked = true;
      // A connection that is cut makes `send` throw.
      const loop = async (first: number) => {
        for (let at = first; isLocked; at++) {
          const [name, send] = kinds[at % kinds.length]!;
          const answer = await send();
          assertHonest(name, answer);
          seen.push(`${name} ${answer.status} ${answer.body.error?.message ?? ''}`);
        }
      };
      const loops = Promise.all(Array.from({ length: LOOPS }, (_, first) => loop(first)));
      loops.catch(() => {});
      await (await lock(side, tables, LOCK_MS)).released;
      isLocked = false;
      await loops;
      for (const [name, send] of kinds) assert.equal((await send()).status, 200, name);
      if (search === 'database') {
        assert.ok(
          seen.some((line) => /^search 503 The search takes too long/.test(line)),
          'a search gives up first',
        );
        assert.ok(
          seen.some((line) => /^(?:read|change) 503 The database does not/.test(line)),
          'then statements do',
        );
      }
      const statuses = await loggedStatuses(node);
      assert.deepEqual(statuses, new Set([200, 503]));
      t.diagnostic(
        `${seen.filter((line) => line.includes(' 503 ')).length} of ${seen.length} requests got a 503`,
      );
    });
  }

  // Each change waits for the one before it, so together they take longer than a connection may be silent.
  for (const ms of size([], [28_000])) {
    it(`events for ${ms} ms, changes that wait for each other get a 503, and no connection is cut`, async (t) => {
      const url = await newDatabase();
      const [node] = (await startNodes(1, url, ENV)) as [Node];
      t.after(() => node.stop('SIGKILL'));
      const side = new Side(url);
      t.after(() => side.close());
      const agent = await node.client.register();
      const { event_id } = await agent.create();
      // Reads go on: a change reads the event before it waits for others.
      const { released } = await lock(side, 'events IN EXCLUSIVE MODE', ms);
      const changes = Array.from({ length: 6 }, async (_, at) => {
        await sleep(100 * at);
        return agent.patch(`/v1/events/${event_id}`, { cost: `${at}` });
      });
      const answers = await Promise.all(changes);
      for (const answer of answers) assertHonest('change', answer);
      const late = /There is no result after 15 s. The change may still happen/;
      assert.equal(answers.filter(({ text }) => late.test(text)).length, 5);
      await released;
      assert.deepEqual(await loggedStatuses(node), new Set([200, 503]));
    });
  }
});
