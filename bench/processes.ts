// Programs that the benchmark starts: each its own process, with its output in a file, and what it cost from /proc.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { BIN, cleanEnv, freePort } from '../test/support/process.ts';

export interface Server {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

export const fileBeside = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Starts a program of Node that listens on PORT, and waits until this path answers 200. */
export async function startServer(
  args: readonly string[],
  options: { env?: Record<string, string>; logFile: string; healthPath: string },
): Promise<Server> {
  const port = await freePort();
  const log = openSync(options.logFile, 'a');
  const env = cleanEnv({ ...options.env, PORT: String(port) });
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', log, log] });
  closeSync(log);
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`${args[0]} did not start; see ${options.logFile}`);
    }
    const answer = await fetch(url + options.healthPath).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.ok) break;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return {
    url,
    pid: child.pid!,
    stop: async () => {
      process.off('exit', kill);
      await stopChild(child);
    },
  };
}

/** The real service with its default settings; only the quota is one that the benchmark does not reach. */
export function startService(dataDir: string, logFile: string, bin = BIN): Promise<Server> {
  const env = { DATA_DIR: dataDir, RATE_LIMIT_READWRITE: '1000000000' };
  return startServer([bin, 'serve'], { env, logFile, healthPath: '/health' });
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const cut = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(cut);
}

/** Runs a script of this folder to its end; what it printed last is JSON. */
export async function runScript<T>(name: string, input: unknown, nodeOptions: string[] = []): Promise<T> {
  const child = spawn(process.execPath, [...nodeOptions, fileBeside(name), JSON.stringify(input)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { code, printed } = await untilClosed(child, child.stdout);
  if (code !== 0) throw new Error(`${name} ended with ${code}`);
  return JSON.parse(printed.trim().split('\n').at(-1)!) as T;
}

/** Runs a command of the service to its end and returns what it said on standard error. */
export async function runCommand(args: readonly string[], env: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, [BIN, ...args], {
    ...{ env: cleanEnv(env), stdio: ['ignore', 'ignore', 'pipe'] as const },
  });
  const { code, printed } = await untilClosed(child, child.stderr);
  if (code !== 0) throw new Error(`${args[0]} ended with ${code}:\n${printed}`);
  return printed;
}

async function untilClosed(
  child: ChildProcess,
  output: Readable,
): Promise<{ code: number; printed: string }> {
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  let printed = '';
  output.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const [code] = await once(child, 'close');
  process.off('exit', kill);
  return { code, printed };
}

export async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** CPU time of all threads of these processes so far, and of their children with `andChildren`. */
export function cpuMicroseconds(pids: readonly number[], andChildren = false): number {
  let ticks = 0;
  const add = (stat: readonly string[]) => {
    // utime, stime, and those of children that have ended: fields 14 to 17 of proc(5), counted from the third.
    for (const field of stat.slice(11, 15)) ticks += Number(field);
  };
  for (const pid of pids) add(readStat(pid)!);
  if (andChildren) {
    for (const name of readdirSync('/proc')) {
      const stat = /^\d+$/.test(name) ? readStat(Number(name)) : undefined;
      if (stat && pids.includes(Number(stat[1]))) add(stat);
    }
  }
  return (ticks / TICKS_PER_SECOND) * 1e6;
}

/**
 * CPU time of the thread that has the event loop, so far; exact while it waits, otherwise up to its last tick. Throws where
 * the kernel does not count it (CONFIG_SCHED_INFO).
 */
export function mainThreadMicroseconds(pid: number): number {
  const [nanoseconds] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1000;
}

/** The fields after the name, which may itself hold spaces and brackets. */
function readStat(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined; // ended in the meantime
  }
}

export function residentBytes(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
  return Number(kilobytes) * 1024;
}
