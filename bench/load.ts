// A measured burst of requests to a server, with the server's CPU time.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Case } from './cases.ts';
import type { GeneratorInput, GeneratorOutput } from './generator.ts';
import { cpuMicroseconds, fileBeside, runScript, type Server } from './processes.ts';

export interface Measured {
  readonly perSecond: number;
  /** Microseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly cpuPerRequest: number;
}

export interface Target {
  readonly url: string;
  readonly pids: readonly number[];
  /** Includes the child processes of `pids`. */
  readonly andChildren?: boolean;
  /** So slow that requests in flight at the end must be counted. */
  readonly isSlow?: boolean;
}

interface WrkOutput {
  readonly requests: number;
  readonly microseconds: number;
  readonly p50: number;
  readonly p99: number;
  readonly failed: number;
}

/** Throws with the command to run if wrk is missing and cannot be installed from here. */
export function ensureWrk(): void {
  if (process.env.PATH!.split(':').some((folder) => existsSync(`${folder}/wrk`))) return;
  const line = 'apt-get install -y wrk';
  if (!existsSync('/etc/debian_version') || process.getuid?.() !== 0) {
    throw new Error(`The benchmark needs wrk. Install it, on Debian: ${line}`);
  }
  console.error(`wrk is missing; installing it: ${line}`);
  execFileSync('sh', ['-c', line], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Waits until searches by words are answered: after a start, the words of all events are read in the background. */
export async function untilWords({ url }: Server, key: string): Promise<void> {
  for (;;) {
    const path = '/v1/events/nearby?lat=0&lng=0&radius=1&q=word';
    const response = await fetch(url + path, { headers: { 'X-API-Key': key } });
    await response.arrayBuffer();
    if (response.status === 200) return;
    await sleep(100);
  }
}

/** Sends the sample once, unmeasured: requests in between may have evicted its events from the cache. */
export async function prime(url: string, { sample, name }: Case, key: string): Promise<void> {
  const left = sample.values();
  const ask = async () => {
    for (const path of left) {
      const response = await fetch(url + path, { headers: { 'X-API-Key': key } });
      if (response.status !== 200) throw new Error(`${response.status} for ${name}: ${path}`);
      await response.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: 16 }, ask));
}

let bursts = 0;

/** `key` is sent with all requests except creates. */
export async function load(target: Target, benchCase: Case, key: string, seconds: number): Promise<Measured> {
  // Every burst starts at another line of the file, and no create is ever sent twice.
  const from = 10_007 * bursts++ + (benchCase.kind === 'create' ? bursts * 10_000_000 : 0);
  const sentKey = benchCase.kind === 'create' ? undefined : key;
  const cpuBefore = cpuMicroseconds(target.pids, target.andChildren);
  const result = target.isSlow
    ? await runScript<GeneratorOutput>('generator.ts', {
        ...{ url: target.url, requestFile: benchCase.requestFile, key: sentKey, seconds, from },
        ...{ connections: benchCase.connections, rate: undefined, warmSeconds: 0 },
      } satisfies GeneratorInput)
    : await runWrk(target.url, benchCase, sentKey, seconds, from);
  const cpu = cpuMicroseconds(target.pids, target.andChildren) - cpuBefore;
  const { perSecond, p50, p99, requests } = result;
  return { perSecond, p50, p99, cpuPerRequest: cpu / requests };
}

async function runWrk(url: string, benchCase: Case, key: string | undefined, seconds: number, from: number) {
  const args = [
    '-t1',
    `-c${benchCase.connections}`,
    `-d${seconds}s`,
    '--timeout',
    '30s',
    '-s',
    fileBeside('wrk.lua'),
  ];
  const env = {
    ...process.env,
    ...{ BENCH_REQUESTS: benchCase.requestFile, BENCH_FROM: String(from) },
    ...(key && { BENCH_KEY: key }),
  };
  const child = spawn('wrk', [...args, url], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  await once(child, 'close');
  const output = JSON.parse(printed.trim().split('\n').at(-1)!) as WrkOutput;
  if (output.failed > 0) throw new Error(`${output.failed} requests of ${benchCase.name} at ${url} failed`);
  return { ...output, perSecond: output.requests / (output.microseconds / 1e6) };
}
