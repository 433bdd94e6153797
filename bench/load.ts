// One measured burst of requests at a server, and what it cost the server.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Case } from './cases.ts';
import type { GeneratorInput, GeneratorOutput } from './generator.ts';
import { cpuMicroseconds, fileBeside, runScript } from './processes.ts';

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
  /** Also counts the processes that these have started. */
  readonly andChildren?: boolean;
  /** So slow that requests under way at the end count. */
  readonly isSlow?: boolean;
}

interface WrkOutput {
  readonly requests: number;
  readonly microseconds: number;
  readonly p50: number;
  readonly p99: number;
  readonly failed: number;
}

/** Throws with the line to run where wrk is missing and cannot be installed from here. */
export function ensureWrk(): void {
  if (process.env.PATH!.split(':').some((folder) => existsSync(`${folder}/wrk`))) return;
  const line = 'apt-get install -y wrk';
  if (!existsSync('/etc/debian_version') || process.getuid?.() !== 0) {
    throw new Error(`The benchmark needs wrk. Install it, on Debian: ${line}`);
  }
  console.error(`wrk is missing; installing it: ${line}`);
  execFileSync('sh', ['-c', line], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Asks everything in the sample once, unmeasured: what was asked in between may have pushed it out of the cache. */
export async function prime(url: string, { sample, name }: Case, key: string): Promise<void> {
  const left = sample.values();
  const ask = async () => {
    for (const path of left) {
      const answer = await fetch(url + path, { headers: { 'X-API-Key': key } });
      if (answer.status !== 200) throw new Error(`${answer.status} for ${name}: ${path}`);
      await answer.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: 16 }, ask));
}

let numbers = 0;

/** `key` is sent with everything but creates. */
export async function load(target: Target, asked: Case, key: string, seconds: number): Promise<Measured> {
  // Every burst begins elsewhere in the file, and no create is ever sent twice.
  const from = 10_007 * numbers++ + (asked.kind === 'create' ? numbers * 10_000_000 : 0);
  const sentKey = asked.kind === 'create' ? undefined : key;
  const cpuBefore = cpuMicroseconds(target.pids, target.andChildren);
  const result = target.isSlow
    ? await runScript<GeneratorOutput>('generator.ts', {
        ...{ url: target.url, requestFile: asked.requestFile, key: sentKey, seconds, from },
        ...{ connections: asked.connections, rate: undefined, warmSeconds: 0 },
      } satisfies GeneratorInput)
    : await runWrk(target.url, asked, sentKey, seconds, from);
  const cpu = cpuMicroseconds(target.pids, target.andChildren) - cpuBefore;
  const { perSecond, p50, p99, requests } = result;
  return { perSecond, p50, p99, cpuPerRequest: cpu / requests };
}

async function runWrk(url: string, asked: Case, key: string | undefined, seconds: number, from: number) {
  const args = [
    '-t1',
    `-c${asked.connections}`,
    `-d${seconds}s`,
    '--timeout',
    '30s',
    '-s',
    fileBeside('wrk.lua'),
  ];
  const env = {
    ...process.env,
    ...{ BENCH_REQUESTS: asked.requestFile, BENCH_FROM: String(from) },
    ...(key && { BENCH_KEY: key }),
  };
  const child = spawn('wrk', [...args, url], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  await once(child, 'close');
  const output = JSON.parse(printed.trim().split('\n').at(-1)!) as WrkOutput;
  if (output.failed > 0) throw new Error(`${output.failed} requests of ${asked.name} at ${url} failed`);
  return { ...output, perSecond: output.requests / (output.microseconds / 1e6) };
}
