// Processes that the benchmark starts, with their output in files, and their CPU time and memory from /proc.
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

/** Starts a Node program that listens on PORT, and waits until `healthPath` returns 200. */
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
    const response = await fetch(url + options.healthPath).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.ok) break;
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

/** Starts the service with default settings, except for a quota that the benchmark does not reach. */
export function startService(
  dataDir: string,
  logFile: string,
  { bin = BIN, env = {} }: { bin?: string; env?: Record<string, string> } = {},
): Promise<Server> {
  const settings = { DATA_DIR: dataDir, RATE_LIMIT_READWRITE: '1000000000', ...env };
  return startServer([bin, 'serve'], { env: settings, logFile, healthPath: '/health' });
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const cut = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(cut);
}

/** Runs a script of this folder and returns the JSON in its last line of output. */
export async function runScript<T>(name: string, input: unknown, nodeOptions: string[] = []): Promise<T> {
  const child = spawn(process.execPath, [...nodeOptions, fileBeside(name), JSON.stringify(input)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { code, printed } = await untilClosed(child, child.stdout);
  if (code !== 0) throw new Error(`${name} ended with ${code}`);
  return JSON.parse(printed.trim().split('\n').at(-1)!) as T;
}

/** Runs a CLI command of the service and returns its standard error. */
export async function runCommand(
  args: readonly string[],
  env: Record<string, string>,
  bin = BIN,
): Promise<string> {
  const child = spawn(process.execPath, [bin, ...args], {
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
  const startedMs = performance.now();
  await work();
  return (performance.now() - startedMs) / 1000;
}

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** CPU time so far of all threads of these processes, with `andChildren` also of their children. */
export function cpuMicroseconds(pids: readonly number[], andChildren = false): number {
  let ticks = 0;
  const add = (stat: readonly string[]) => {
    // utime, stime, and those of ended children: fields 14 to 17 of proc(5); `stat` begins with field 3.
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
 * CPU time so far of the main thread. Exact while the thread waits, otherwise up to its last tick. Throws if the kernel does
 * not count it (CONFIG_SCHED_INFO).
 */
export function mainThreadMicroseconds(pid: number): number {
  const [nanoseconds] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ');
  return Number(nanoseconds) / 1000;
}

/** Fields of /proc/PID/stat after the process name, which may contain spaces and brackets. */
function readStat(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined; // ended meanwhile
  }
}

export function residentBytes(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!;
  return Number(kilobytes) * 1024;
}
