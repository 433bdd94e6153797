// The clock, the random source and the version of the running program. Other parts are given them, so that tests are exact.
import { randomFillSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Clock, Random, Uptime } from './domain/clock-and-random.ts';

const PACKAGE = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
export const VERSION = PACKAGE.version;

export const systemClock: Clock = Date.now;

export const systemUptime: Uptime = () => performance.now();

/** Random bytes. Small requests use a pool, because a system call costs far more than the bytes. */
export const systemRandom: Random = (bytes) => {
  if (bytes.length > POOL_BYTES) return randomFillSync(bytes);
  if (poolAt + bytes.length > POOL_BYTES) {
    randomFillSync(pool);
    poolAt = 0;
  }
  bytes.set(pool.subarray(poolAt, poolAt + bytes.length));
  pool.fill(0, poolAt, poolAt + bytes.length); // do not keep bytes that may become a key
  poolAt += bytes.length;
  return bytes;
};

const POOL_BYTES = 4_096;
const pool = new Uint8Array(POOL_BYTES);
let poolAt = POOL_BYTES;
