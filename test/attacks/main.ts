// Runs single attacks by name and prints what was measured: node test/attacks/main.ts ROW… [--engine postgres]
// [--seconds 10] [--one-address]
import { parseArgs } from 'node:util';
import type { Engine } from '../support/engines.ts';
import { ROWS, type RowName } from './rows.ts';
import { runAttack } from './run.ts';
import { describeOutcome, problemsOf } from './verdict.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    engine: { type: 'string', default: 'sqlite' },
    seconds: { type: 'string', default: '10' },
    'one-address': { type: 'boolean', default: false },
  },
});
if (positionals.length === 0) console.log(`Name one or more of: ${Object.keys(ROWS).join(', ')}`);
for (const row of positionals as RowName[]) {
  const outcome = await runAttack({
    row,
    engine: values.engine as Engine,
    seconds: Number(values.seconds),
    isOnOneAddress: values['one-address'],
  });
  console.log(`${row}: ${describeOutcome(outcome)}`);
  for (const problem of problemsOf(outcome)) console.log(`  ${problem}`);
}
process.exit();
