// An import that is stopped or killed in the middle: its report is true, and a second run completes it exactly.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { newEvent } from '../support/client.ts';
import { runHere } from '../support/command.ts';
import { temporaryFolder } from '../support/service.ts';
import { countsIn, fileOf, launchFed, NEW_AGENT, summaryOf, toLines } from './bulk.ts';

const EVENTS = Array.from({ length: 9_000 }, () => newEvent());
const FED = 5_000;

/** Feeds the first lines, waits until some are on the disk, and sends the signal with the input still open. */
async function interrupt(signal: NodeJS.Signals) {
  const folder = join(temporaryFolder(), 'data');
  const { child, ended } = launchFed(['import', '-', ...NEW_AGENT], { DATA_DIR: folder });
  child.stdin.write(toLines(EVENTS.slice(0, FED)));
  await untilImported(folder, () => assert.equal(child.exitCode, null, 'the import ended'));
  child.kill(signal);
  const first = await ended;
  assert.match(first.stdout, /^lev_\w{38}\n$/, 'the key is printed before the work');
  return { folder, first, key: first.stdout };
}

/** Polls the file, because the process does not tell when it has committed. */
async function untilImported(folder: string, check: () => void): Promise<void> {
  for (;;) {
    check();
    try {
      if (countsIn(folder).events > 0) return;
    } catch {
      // there is no table yet
    }
    await sleep(10);
  }
}

/** Runs it again with all lines and asserts that each event is stored once. */
async function assertResumes(folder: string, key: string): Promise<void> {
  const { events, counted } = countsIn(folder);
  assert.ok(events > 0 && events <= FED);
  assert.equal(counted, events);
  const again = await runHere(['import', fileOf(toLines(EVENTS)), '--key-stdin'], { DATA_DIR: folder }, key);
  assert.equal(again.code, 0, again.stderr);
  const expected = {
    end: 'done',
    read: EVENTS.length,
    imported: EVENTS.length - events,
    existing: events,
    refused: 0,
  };
  assert.deepEqual(summaryOf(again), expected);
  assert.deepEqual(countsIn(folder), { events: EVENTS.length, counted: EVENTS.length });
}

describe('import', { concurrency: 2 }, () => {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    it(`finishes its step on ${signal}, reports its progress, and continues when run again`, async () => {
      const { folder, first, key } = await interrupt(signal);
      assert.deepEqual([first.code, first.signal], [code, null], first.stderr);
      const summary = summaryOf(first);
      assert.deepEqual(summary, {
        ...summary,
        end: 'stopped',
        existing: 0,
        refused: 0,
        read: summary.imported,
      });
      assert.equal(summary.imported, countsIn(folder).events);
      await assertResumes(folder, key);
    });
  }

  it('continues after kill -9 when run again', async () => {
    const { folder, first, key } = await interrupt('SIGKILL');
    assert.equal(first.signal, 'SIGKILL');
    await assertResumes(folder, key);
  });
});
