// Attacks on the availability of a real process: one hostile client hurts only itself. In a long run every attack, on both
// engines; otherwise the worst two, on the embedded one. Each prints a line with what it measured.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Engine } from '../support/engines.ts';
import { size } from '../support/sizes.ts';
import { ROWS, type RowName } from './rows.ts';
import { type AttackOptions, runAttack } from './run.ts';
import { describeOutcome, problemsOf } from './verdict.ts';

const WORST: readonly RowName[] = ['calendarPages', 'unfinishedBodies'];
const ALL = Object.keys(ROWS) as RowName[];
const KEYED = ALL.filter((row) => ROWS[row].keys > 0);

const engines = size<readonly Engine[]>(['sqlite'], ['sqlite', 'postgres']);
const seconds = size(2, 6);

async function assertHolds(options: AttackOptions): Promise<void> {
  const outcome = await runAttack(options);
  // On standard error, which the test command shows.
  console.error(`${options.engine}: ${outcome.row.title}: ${describeOutcome(outcome)}`);
  assert.deepEqual(problemsOf(outcome), []);
}

for (const engine of engines) {
  describe(`others are served on ${engine} during`, () => {
    for (const row of size(WORST, ALL)) it(ROWS[row].title, () => assertHolds({ engine, row, seconds }));
  });
}

for (const engine of size<readonly Engine[]>([], engines)) {
  describe(`others at the address of the attacker are served on ${engine} during`, () => {
    for (const row of KEYED) {
      it(ROWS[row].title, () => assertHolds({ engine, row, seconds, isOnOneAddress: true }));
    }
  });
}
