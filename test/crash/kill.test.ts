// `kill -9` of a real service during concurrent writes, repeatedly on one data folder.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { EventRow } from '../../src/domain/events/event.ts';
import { callTool, refresh, type SignedIn, signIn } from '../oauth/flow.ts';
import { haversineMiles } from '../spatial/oracle.ts';
import { assertSound, readOpenEvents, readRows } from '../sqlite/files.ts';
import { wireOf } from '../store/rows.ts';
import { Client } from '../support/client.ts';
import { launchService } from '../support/process.ts';
import { Chance } from '../support/random.ts';
import { temporaryFolder } from '../support/service.ts';
import { size } from '../support/sizes.ts';
import { Ledger, type Wire } from './ledger.ts';

const ROUNDS = size(2, 25);
/** Minimum and maximum of acknowledged writes before a kill. */
const WRITES = size([40, 150], [1, 150]) as [number, number];
const WRITERS = 10;

const NO_LIMITS = { RATE_LIMIT_READWRITE: '0', REGISTRATIONS_PER_HOUR: '0', LOG_LEVEL: 'warn' };

/** Every event that a search without a radius finds, page by page. */
async function searchAll(agent: Client): Promise<unknown[]> {
  const events: unknown[] = [];
  for (let cursor = {}; ; ) {
    const { body, status, text } = await agent.nearby({ limit: 100, ...cursor });
    assert.equal(status, 200, text);
    events.push(...body.events);
    if (body.next_cursor === null) {
      assert.equal(body.total, events.length);
      return events;
    }
    cursor = { cursor: body.next_cursor };
  }
}

/** Registers agents one by one until the service does not respond; returns the keys it sent. */
async function registerUntilGone(url: string): Promise<string[]> {
  const keys: string[] = [];
  for (;;) {
    const registration = { email: 'agent@example.com', agent_name: `agent ${keys.length}` };
    const answer = await new Client(url).post('/v1/auth/register', registration).catch(() => undefined);
    if (!answer) return keys;
    assert.equal(answer.status, 200, answer.text);
    keys.push(answer.body.api_key);
  }
}

/** Refreshes until the service does not respond; returns the last tokens that it sent. */
async function refreshUntilGone(client: Client, first: SignedIn, onAnswer: () => unknown): Promise<SignedIn> {
  for (let tokens = first; ; ) {
    const answer = await refresh(client, tokens).catch(() => undefined);
    if (!answer) return tokens;
    assert.equal(answer.status, 200, answer.text);
    tokens = { ...tokens, ...answer.body };
    onAnswer();
  }
}

/** Asserts that both tokens work, also if a later refresh was under way. */
async function assertSignedIn(client: Client, tokens: SignedIn): Promise<void> {
  assert.equal((await callTool(client, tokens.access_token)).status, 200);
  assert.equal((await refresh(client, tokens)).status, 200);
}

/** Asserts that the file is sound, agrees with the ledger, and that the index agrees with the file. */
async function verify(
  url: string,
  path: string,
  ledger: Ledger,
  keys: readonly string[],
  grants: readonly SignedIn[],
): Promise<void> {
  assertSound(path);
  const rows = readRows(path, 'SELECT json FROM events');
  ledger.settle(rows.map(({ json }) => JSON.parse(json) as Wire));
  const client = new Client(url);
  for (const key of keys) assert.equal((await client.with({ 'x-api-key': key }).nearby()).status, 200);
  for (const tokens of grants) await assertSignedIn(client, tokens);
  const agent = await client.register();
  const open = readOpenEvents(path, Date.now());
  assert.deepEqual(await searchAll(agent), open.map(wireOf));
  for (const { lat, lng } of open.slice(0, 5)) await assertFoundAround(agent, { lat, lng }, open);
}

/** Asserts that a search in a circle finds exactly the events of the file within it. */
async function assertFoundAround(
  agent: Client,
  centre: { lat: number; lng: number },
  open: readonly EventRow[],
): Promise<void> {
  const { body } = await agent.nearby({ ...centre, radius: 100, limit: 100 });
  const within = open.filter((row) => haversineMiles(centre, row) <= 100);
  assert.equal(body.total, within.length);
  assert.deepEqual(body.events, within.slice(0, 100).map(wireOf));
}

describe('a service that is killed during writes', () => {
  it(`keeps every acknowledged write and no partial one, ${ROUNDS} times`, { timeout: 240_000 }, async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'local-events.db');
    const chance = new Chance(9);
    const ledger = new Ledger();
    let keys: string[] = [];
    let grants: SignedIn[] = [];
    let refreshes = 0;
    const env = { ...NO_LIMITS, DATA_DIR: folder };
    for (let round = 0; round <= ROUNDS; round++) {
      const service = await launchService(env);
      try {
        await verify(service.url, path, ledger, keys, grants);
        if (round === ROUNDS) break;
        const client = new Client(service.url);
        const agents = await Promise.all(Array.from({ length: WRITERS }, () => client.register()));
        const signedIn = await Promise.all(Array.from({ length: 3 }, () => signIn(client)));
        const count = () => refreshes++;
        const refreshing = signedIn.map((tokens) => refreshUntilGone(client, tokens, count));
        const killAt = ledger.answered + chance.integer(...WRITES);
        const kill = () => ledger.answered === killAt && service.child.kill('SIGKILL');
        const registering = registerUntilGone(service.url);
        await Promise.all(agents.map((agent) => ledger.writeUntilGone(agent, chance, kill)));
        keys = await registering;
        grants = await Promise.all(refreshing);
        assert.ok(ledger.underWay > 0, 'the kill came during writes');
      } finally {
        service.child.kill('SIGKILL');
        await service.ended;
      }
    }
    assert.ok(refreshes > ROUNDS, `only ${refreshes} refreshes were acknowledged`);
    assert.ok(ledger.answered > ROUNDS * 30, `only ${ledger.answered} writes were acknowledged`);
  });
});
