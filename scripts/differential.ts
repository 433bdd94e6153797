// Runs a stream of operations of any length on both engines: npm run test:differential -- --ops 100000 --seed 7
// With --against FOLDER, on the version in another checkout and on this one: what differs is what clients will notice.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { compareWith } from '../test/differential/against.ts';
import { runStream } from '../test/differential/stream.ts';

const { values } = parseArgs({
  options: {
    ops: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    against: { type: 'string' },
  },
});
const operations = Number(values.ops);
const seed = Number(values.seed);
if (!Number.isSafeInteger(operations) || operations < 1 || !Number.isSafeInteger(seed)) {
  throw new Error('--ops must be a whole number above 0, --seed a whole number');
}

if (values.against !== undefined) {
  const differences = await compareWith({ root: resolve(values.against), seed, operations });
  for (const [kind, { count, example }] of [...differences].sort(([, a], [, b]) => b.count - a.count))
    console.log(`${count} × ${kind}\n${example.replaceAll(/^/gm, '    ')}`);
  console.log(`${operations} operations with seed ${seed}: ${differences.size} kinds of differences.`);
  process.exit();
}

const started = performance.now();
const seconds = () => ((performance.now() - started) / 1000).toFixed(1);
try {
  const outcomes = await runStream({
    seed,
    operations,
    withSql: true,
    onProgress: (done) => {
      if (done % 10_000 === 0) console.log(`${done} operations in ${seconds()} s`);
    },
  });
  for (const [outcome, count] of [...outcomes].sort())
    console.log(`${String(count).padStart(8)}  ${outcome}`);
  console.log(`${operations} operations with seed ${seed}: no difference, in ${seconds()} s.`);
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
