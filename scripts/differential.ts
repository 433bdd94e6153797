// Runs a stream of operations of any length on both engines: npm run test:differential -- --ops 100000 --seed 7
import { parseArgs } from 'node:util';
import { runStream } from '../test/differential/stream.ts';

const { values } = parseArgs({
  options: { ops: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
});
const operations = Number(values.ops);
const seed = Number(values.seed);
if (!Number.isSafeInteger(operations) || operations < 1 || !Number.isSafeInteger(seed)) {
  throw new Error('--ops must be a whole number above 0, --seed a whole number');
}

const started = performance.now();
const seconds = () => ((performance.now() - started) / 1000).toFixed(1);
try {
  const outcomes = await runStream({
    seed,
    operations,
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
