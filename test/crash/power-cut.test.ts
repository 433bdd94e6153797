// Power cuts while a real service writes: every change to its files is recorded, and afterwards many of the states that a
// disk could have been left in are checked. A control that does not sync each commit shows that the check can fail.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { assertSound, readRows } from '../sqlite/files.ts';
import { Client } from '../support/client.ts';
import { launchService } from '../support/process.ts';
import { Chance } from '../support/random.ts';
import { temporaryFolder } from '../support/service.ts';
import { size } from '../support/sizes.ts';
import { History } from './power-cut/history.ts';
import { DAMAGES, type Damage, Disk, FILES, readTrace } from './power-cut/trace.ts';

const POINTS = size(6, 500);
const STARTS = size(1, 20);
const WRITERS = 10;
const WRITES_EACH = size(25, 200);

const NO_LIMITS = { RATE_LIMIT_READWRITE: '0', REGISTRATIONS_PER_HOUR: '0', LOG_LEVEL: 'warn' };

interface Recording {
  readonly operations: ReturnType<typeof readTrace>;
  readonly history: History;
  /** Number of operations before the first write of a client. */
  readonly before: number;
}

/** Records a service while agents write, and kills it. */
async function record(nodeArgs: readonly string[] = []): Promise<Recording> {
  const folder = temporaryFolder();
  const library = join(folder, 'record-writes.so');
  const source = join(import.meta.dirname, 'power-cut/record-writes.c');
  execFileSync('gcc', ['-O2', '-shared', '-fPIC', '-o', library, source, '-ldl']);
  const trace = join(folder, 'trace');
  const recording = { LD_PRELOAD: library, RECORD_TO: trace, DATA_DIR: join(folder, 'data') };
  const service = await launchService({ ...NO_LIMITS, ...recording }, nodeArgs);
  const history = new History();
  const client = new Client(service.url);
  const agents = await Promise.all(Array.from({ length: WRITERS }, () => client.register()));
  const before = readTrace(trace).length;
  await Promise.all(agents.map((agent, at) => history.write(agent, WRITES_EACH, new Chance(at))));
  service.child.kill('SIGKILL');
  await service.ended;
  return { operations: readTrace(trace), history, before };
}

interface Cut {
  readonly damage: Damage;
  /** The data folder that it left. */
  readonly folder: string;
  /** Writes the folder once more, as the power cut left it. */
  readonly restore: () => void;
  /** What is wrong with it; empty if the database is sound and no acknowledged write is lost. */
  readonly problems: readonly string[];
}

function problemsOf(folder: string, history: History, cutNs: bigint): string[] {
  const path = join(folder, FILES[0]);
  try {
    assertSound(path);
    const found = readRows(path, 'SELECT json FROM events').map(({ json }) => JSON.parse(json));
    return history.findLost(found, cutNs);
  } catch (error) {
    return [(error as Error).message];
  }
}

/** Cuts the power before randomly chosen operations, once per kind of damage, and calls `look` for each folder that is left. */
async function cutPower(
  { operations, history, before }: Recording,
  points: number,
  look: (cut: Cut) => Promise<void> | void,
): Promise<void> {
  const chance = new Chance(7);
  const chosen = new Set<number>();
  while (chosen.size < points) chosen.add(chance.integer(before, operations.length - 1));
  const disk = new Disk();
  const folder = join(temporaryFolder(), 'data');
  for (const [at, operation] of operations.entries()) {
    for (const damage of chosen.has(at) ? (Object.keys(DAMAGES) as Damage[]) : []) {
      const files = disk.damaged(damage, chance);
      const restore = () => {
        rmSync(folder, { recursive: true, force: true });
        mkdirSync(folder);
        for (const { name, bytes } of files) writeFileSync(join(folder, name), bytes);
      };
      restore();
      await look({ damage, folder, restore, problems: problemsOf(folder, history, operation.timeNs) });
    }
    disk.apply(operation);
  }
}

describe('a power cut', { timeout: 600_000 }, () => {
  it(`loses no acknowledged write: ${POINTS} points, each with ${Object.keys(DAMAGES).length} kinds of damage`, async (t) => {
    const recording = await record();
    const { operations, history } = recording;
    const synced = operations.filter(({ kind }) => kind === 'sync');
    for (const name of FILES)
      assert.ok(
        synced.some(({ file }) => file === name),
        `${name} was never synced`,
      );
    let states = 0;
    let starts = 0;
    await cutPower(recording, POINTS, async ({ damage, folder, restore, problems }) => {
      assert.deepEqual(problems, [], `unsynced changes: ${DAMAGES[damage]}`);
      if (states++ % Math.ceil((4 * POINTS) / STARTS) === 0) {
        starts++;
        await assertStarts(folder, restore);
      }
    });
    t.diagnostic(
      `${history.writes} writes, ${operations.length} changes and syncs of files; ${states} states, 0 writes lost; ${starts} starts`,
    );
  });

  it('loses acknowledged writes if commits are not synced', async (t) => {
    const recording = await record(['--import', join(import.meta.dirname, 'power-cut/less-safe.mjs')]);
    let states = 0;
    let damaged = 0;
    await cutPower(recording, Math.min(POINTS, 100), ({ problems }) => {
      states++;
      if (problems.length > 0) damaged++;
    });
    assert.ok(damaged > 0);
    t.diagnostic(`${damaged} of ${states} states had lost writes`);
  });
});

/** Asserts that a service starts on the folder and finds what the file has. */
async function assertStarts(folder: string, restore: () => void): Promise<void> {
  const [row] = readRows(join(folder, FILES[0]), 'SELECT count(*) AS count FROM events');
  restore();
  const service = await launchService({ ...NO_LIMITS, DATA_DIR: folder });
  try {
    const agent = await new Client(service.url).register();
    assert.equal((await agent.nearby()).body.total, row.count);
  } finally {
    service.child.kill('SIGKILL');
    await service.ended;
  }
}
