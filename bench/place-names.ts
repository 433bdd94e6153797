// Measures the names of places alone: `node --expose-gc bench/place-names.ts`. How long loading takes and how much of it the main thread,
// what stays in memory, and the mean CPU time of look-ups: of every large city, and of the texts that take longest.
import { setTimeout as sleep } from 'node:timers/promises';
import { lazyPlaces } from '../src/places/places.ts';

const CPU_MS = 1_000;

if (!globalThis.gc) throw new Error('Run it with --expose-gc.');
const places = lazyPlaces();
globalThis.gc();
const before = process.memoryUsage();
const thread = process.threadCpuUsage();
const startMs = performance.now();
await places.resolve('Bern');
const wallMs = performance.now() - startMs;
const { user, system } = process.threadCpuUsage(thread);
// Buffers are freed in the background.
for (let times = 0; times < 3; times++) {
  globalThis.gc();
  await sleep(100);
}
const after = process.memoryUsage();
const buffersMb = (after.arrayBuffers - before.arrayBuffers) / 1e6;
console.log(
  `loading: ${wallMs.toFixed(0)} ms, main thread ${((user + system) / 1000).toFixed(0)} ms; ${buffersMb.toFixed(1)} MB stay`,
);

/** Mean milliseconds: CPU time is counted in ticks of some milliseconds, so one call is too short. */
async function measure(what: string, call: () => Promise<unknown>): Promise<void> {
  for (let warm = 0; warm < 20; warm++) await call();
  let calls = 0;
  const from = process.threadCpuUsage();
  let taken = 0;
  while (taken < CPU_MS) {
    for (let again = 0; again < 20; again++) await call();
    calls += 20;
    const { user, system } = process.threadCpuUsage(from);
    taken = (user + system) / 1000;
  }
  console.log(`${what}: ${(taken / calls).toFixed(3)} ms`);
}

for (const text of [
  'Kreuzberg, Berlin',
  'ミュンヘン',
  'Springfield',
  'San José',
  'San Juan, San Pedro, Santa Cruz, San José, Santa Rosa, San Antonio',
  '\ufdfa'.repeat(200),
])
  await measure(`place=${text.slice(0, 40)}`, () => places.resolve(text));

const near = { lat: 40, lng: -80 };
for (const q of ['Springfield, IL', 'spring', 'san', 'sa', 'ma']) {
  await measure(`q=${q}`, () => places.find({ q, country: undefined, near: undefined, limit: 50 }));
  await measure(`q=${q}, near a point`, () => places.find({ q, country: undefined, near, limit: 50 }));
  await measure(`q=${q}, in Tuvalu`, () => places.find({ q, country: 'TV', near: undefined, limit: 50 }));
}
