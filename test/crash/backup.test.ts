// Backups of a real service, one per second, while hundreds of events per second are created: each holds every event that
// was acknowledged before it began. On a slow machine both are slower: a backup starts after a fixed number of events.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertSound, readRows } from '../sqlite/files.ts';
import { Client } from '../support/client.ts';
import { launchService, run } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';
import { size } from '../support/sizes.ts';

/** An even number: they are restored in pairs. */
const BACKUPS = size(4, 20);
const EVERY_MS = 1_000;
const WRITES_PER_SECOND = size(200, 500);
/** With this limit an overloaded machine gets slower instead of dropping connections. */
const MAX_UNDER_WAY = 64;

const NO_LIMITS = { RATE_LIMIT_READWRITE: '0', LOG_LEVEL: 'warn' };

/** Creates events at a steady rate, and records each that is acknowledged. */
class Load {
  readonly #agent: Client;
  readonly answered: string[] = [];
  readonly #underWay = new Set<Promise<void>>();
  isOver = false;
  #failure: unknown;

  constructor(agent: Client) {
    this.#agent = agent;
  }

  /** Ends early only if a create fails. */
  async run(): Promise<void> {
    const startedMs = performance.now();
    for (let sent = 0; !this.isOver; await sleep(5)) {
      const due = Math.floor(((performance.now() - startedMs) / 1000) * WRITES_PER_SECOND);
      for (; sent < due && this.#underWay.size < MAX_UNDER_WAY; sent++) this.#create();
    }
    await Promise.all(this.#underWay);
    if (this.#failure) throw this.#failure;
  }

  #create(): void {
    const create = this.#agent.create().then(
      ({ event_id }) => void this.answered.push(event_id),
      (error: unknown) => {
        this.#failure ??= error;
        this.end();
      },
    );
    this.#underWay.add(create);
    void create.then(() => this.#underWay.delete(create));
  }

  /** Waits for this many responses. */
  async until(answers: number): Promise<void> {
    while (this.answered.length < answers && !this.isOver) await sleep(5);
  }

  /** The last responses come later; `run` waits for them. */
  end(): void {
    this.isOver = true;
  }
}

interface Taken {
  readonly file: string;
  /** How many creates were acknowledged before the process started, and when it ended. */
  readonly answeredBefore: number;
  readonly answeredAfter: number;
}

async function takeBackup(file: string, env: Record<string, string>, load: Load): Promise<Taken> {
  const answeredBefore = load.answered.length;
  const { code, stderr } = await run(['backup', file], env);
  assert.equal(code, 0, stderr);
  return { file, answeredBefore, answeredAfter: load.answered.length };
}

/** Takes all backups, each after a number of further responses. The load ends with the last, or the first that fails. */
async function takeBackups(env: Record<string, string>, load: Load): Promise<Taken[]> {
  const folder = temporaryFolder();
  const taking: Promise<Taken>[] = [];
  for (let number = 1; number <= BACKUPS && !load.isOver; number++) {
    await Promise.all([sleep(EVERY_MS), load.until((number * EVERY_MS * WRITES_PER_SECOND) / 1000)]);
    const backup = takeBackup(join(folder, `${number}.db`), env, load);
    backup.catch(() => load.end()); // thrown below
    taking.push(backup);
  }
  return Promise.all(taking).finally(() => load.end());
}

/** Restores into an empty folder and asserts that nothing is missing; returns the folder. */
async function assertRestores(
  { file, answeredBefore }: Taken,
  answered: readonly string[],
  env: Record<string, string>,
): Promise<string> {
  const DATA_DIR = join(temporaryFolder(), 'data');
  const { code, stderr } = await run(['restore', file], { ...env, DATA_DIR });
  assert.equal(code, 0, stderr);
  const path = join(DATA_DIR, 'local-events.db');
  assertSound(path);
  const held = new Set(readRows(path, 'SELECT event_id FROM events').map(({ event_id }) => event_id));
  const missing = answered.slice(0, answeredBefore).filter((id) => !held.has(id));
  assert.deepEqual(missing, [], `${missing.length} of ${answeredBefore} are missing`);
  return DATA_DIR;
}

describe('backups made while the service writes', () => {
  it(`hold every event acknowledged before they began, ${BACKUPS} times`, {
    timeout: 240_000,
  }, async (test) => {
    const env = { ...NO_LIMITS, DATA_DIR: temporaryFolder() };
    const service = await launchService(env);
    test.after(() => service.child.kill('SIGKILL'));
    const agent = await new Client(service.url).register();
    const load = new Load(agent);
    test.after(() => load.end());
    const startedMs = performance.now();
    const [taken] = await Promise.all([takeBackups(env, load), load.run()]);
    const rate = Math.round(load.answered.length / ((performance.now() - startedMs) / 1000));
    test.diagnostic(`${load.answered.length} events, ${rate}/s`);
    assert.equal(taken.length, BACKUPS);
    for (const { answeredBefore, answeredAfter } of taken) assert.ok(answeredAfter > answeredBefore);
    service.child.kill('SIGTERM');
    await service.ended;

    let DATA_DIR = '';
    for (let at = 0; at < BACKUPS; at += 2) {
      const pair = taken.slice(at, at + 2);
      [, DATA_DIR = ''] = await Promise.all(pair.map((backup) => assertRestores(backup, load.answered, env)));
    }
    const restored = await launchService({ ...env, DATA_DIR, PORT: new URL(service.url).port });
    test.after(() => restored.child.kill('SIGKILL'));
    const { body } = await agent.nearby({ limit: 1 });
    const [{ count }] = readRows(join(DATA_DIR, 'local-events.db'), 'SELECT count(*) AS count FROM events');
    assert.equal(body.total, count);
    assert.ok(count >= taken.at(-1)!.answeredBefore && count < load.answered.length);
  });
});
