// Nodes of the version before, from the repository's history, beside nodes of a version with one migration more than this one:
// if that migration is compatible, both serve all the time, and older nodes can still be started; if not, they are refused. A
// clone without history (git fetch --unshallow) has only nodes of this version.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '../support/client.ts';
import { newDatabase } from '../support/postgres.ts';
import { launch, launchService } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';
import { type Node, registerOnAll, startNodes, stopSoundly } from './nodes.ts';

const ROOT = join(import.meta.dirname, '../..');
const MIGRATIONS = 'src/postgres/migrations';
const INSTALLED = ['bin', 'src', 'package.json'];
const LOOPS = 8;

/**
 * The commit before the last one that changed migrations, or how they are applied; undefined in a clone without history. A
 * commit of a branch may have had other migrations than those that it was merged with.
 */
function findVersionBefore(): string | undefined {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
  const current = readdirSync(join(ROOT, MIGRATIONS)).sort();
  const isBefore = (commit: string) => {
    const names = git('ls-tree', '--name-only', `${commit}:${MIGRATIONS}`).split('\n');
    return names.every((name, at) => name === current[at]);
  };
  try {
    const changes = git('log', '--format=%H', '--', MIGRATIONS, 'src/postgres/migrate.ts').split('\n');
    for (const commit of changes) {
      const parent = git('rev-parse', '--verify', `${commit}^`);
      if (isBefore(parent)) return parent;
    }
    return undefined;
  } catch {
    return undefined;
  }
}

/** An installation in a folder of its own. */
function install(copy: (folder: string) => void): { bin: string; migrations: string; count: number } {
  const folder = temporaryFolder();
  copy(folder);
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const migrations = join(folder, MIGRATIONS);
  return { bin: join(folder, 'bin/local-events.mjs'), migrations, count: readdirSync(migrations).length };
}

/** Without history, this version stands for the one before. */
function installBefore() {
  const commit = findVersionBefore();
  if (commit === undefined) return installAfter();
  const archive = ['archive', commit, ...INSTALLED];
  const tar = execFileSync('git', archive, { cwd: ROOT, maxBuffer: 2 ** 28 });
  return install((folder) => execFileSync('tar', ['-x', '-C', folder], { input: tar }));
}

/** This version with more migrations. */
function installAfter(...texts: readonly string[]) {
  const installed = install((folder) => {
    for (const name of INSTALLED) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  });
  for (const [at, text] of texts.entries()) {
    const number = String(installed.count + 1 + at).padStart(4, '0');
    writeFileSync(join(installed.migrations, `${number}-later.sql`), text);
  }
  return installed;
}

/** Uses everything that agents can, until it is stopped. Throws at the first failure; returns the number of requests. */
function load(agent: Client): { stop(): Promise<number> } {
  let isStopped = false;
  let count = 0;
  const loop = async () => {
    while (!isStopped) {
      const { event_id } = await agent.create();
      for (const send of [
        () => agent.nearby({ radius: 10 }),
        () => agent.patch(`/v1/events/${event_id}`, { cost: 'free' }),
        () => agent.get(`/v1/events/${event_id}`),
        () => agent.get('/v1/agents/me/events'),
        () => agent.get('/v1/agents/me'),
      ]) {
        const { status, text } = await send();
        assert.equal(status, 200, text);
        count++;
      }
      const { status, text } = await agent.delete(`/v1/events/${event_id}`);
      assert.equal(status, 204, text);
      count += 2;
    }
  };
  const loops = Promise.all(Array.from({ length: LOOPS }, loop));
  loops.catch(() => {});
  return {
    stop: async () => {
      isStopped = true;
      await loops;
      return count;
    },
  };
}

describe('nodes of the version before', { timeout: 180_000 }, () => {
  let old: ReturnType<typeof install>;
  before(() => {
    old = installBefore();
  });

  it('serve while a compatible version migrates, beside it, and after a restart', async (t) => {
    const url = await newDatabase();
    const nodes = await startNodes(1, url, {}, old.bin);
    t.after(() => Promise.all(nodes.map((node) => node.stop('SIGKILL'))));
    const [onOld] = (await registerOnAll(nodes)) as [Client];
    const running = load(onOld);
    await sleep(500);

    const compatible = `-- Compatible from: ${old.count}\n`;
    const after = installAfter(
      `${compatible}ALTER TABLE events ADD COLUMN later text; ALTER TABLE agents ADD COLUMN later text;`,
      `${compatible}-- Outside a transaction\nDROP INDEX CONCURRENTLY IF EXISTS later;\nCREATE INDEX CONCURRENTLY later ON events (later);`,
    );
    const [next] = (await startNodes(1, url, {}, after.bin)) as [Node];
    nodes.push(next);
    const onNext = next.client.with({ ...onOld.headers });
    const beside = load(onNext);
    await sleep(500);
    const mine = await onNext.create();
    assert.deepEqual((await onOld.get(`/v1/events/${mine.event_id}`)).body, mine);
    const theirs = await onOld.create();
    assert.deepEqual((await onNext.get(`/v1/events/${theirs.event_id}`)).body, theirs);
    const count = await running.stop();
    assert.ok(count > 100, `only ${count} requests`);

    await stopSoundly(nodes.splice(0, 1));
    const [again] = (await startNodes(1, url, {}, old.bin)) as [Node];
    nodes.push(again);
    const restarted = load(again.client.with({ ...onOld.headers }));
    await sleep(500);
    assert.ok((await restarted.stop()) > 10);
    assert.ok((await beside.stop()) > 100);
    await stopSoundly(nodes.splice(0));
    const name = findVersionBefore() ? 'the version before' : 'this version, for lack of history,';
    t.diagnostic(`${count} requests to ${name} while the next one migrated; none failed`);
  });

  it('are refused, with the reason, if a migration is not compatible', async (t) => {
    const env = { PORT: '0', DATABASE_URL: await newDatabase() };
    const after = installAfter('CREATE TABLE later ();');
    const next = await launchService(env, [], after.bin);
    t.after(() => next.child.kill('SIGKILL'));
    const { code, stderr } = await launch(['serve'], env, [], old.bin).ended;
    assert.equal(code, 1);
    assert.match(stderr, /written by a newer version of local-events .* Install that version or newer/);
    const agent = await new Client(next.url).register();
    await agent.create();
  });
});
