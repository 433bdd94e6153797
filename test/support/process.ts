// The service as its own process, started by bin/local-events.mjs as an operator would.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

export const BIN = fileURLToPath(new URL('../../bin/local-events.mjs', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningProcess {
  readonly child: ChildProcess;
  /** Everything printed so far. */
  readonly output: () => { stdout: string; stderr: string };
  readonly ended: Promise<Ended>;
}

/** The environment of this process without the service's variables, plus these. */
export function cleanEnv(env: Record<string, string>): Record<string, string> {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'NODE_COMPILE_CACHE'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(kept), ...env };
}

/** Starts the command line with these arguments; `nodeArgs` are for Node itself, `bin` is that of another installation. */
export function launch(
  args: readonly string[],
  env: Record<string, string> = {},
  nodeArgs: readonly string[] = [],
  bin: string = BIN,
): RunningProcess {
  return launchCommand(process.execPath, [...nodeArgs, bin, ...args], { env });
}

/** Starts any program; with `detached`, in its own process group. */
export function launchCommand(
  command: string,
  args: readonly string[],
  options: { env?: Record<string, string>; cwd?: string; detached?: boolean } = {},
): RunningProcess {
  const child = spawn(command, args, {
    ...options,
    env: cleanEnv(options.env ?? {}),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]!.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...output }) as Ended);
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  return { child, output: () => ({ ...output }), ended };
}

/** Waits until the output passes the check. Throws if the process ends first. */
export async function untilPrinted(
  { child, output, ended }: RunningProcess,
  isThere: (printed: { stdout: string; stderr: string }) => boolean,
): Promise<void> {
  const { resolve, reject, promise } = Promise.withResolvers<void>();
  const look = () => {
    if (isThere(output())) resolve();
  };
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', look);
  ended.then(({ stdout, stderr }) => reject(new Error(`the process ended:\n${stdout}${stderr}`)));
  look();
  await promise;
  for (const stream of [child.stdout!, child.stderr!]) stream.off('data', look);
}

/** Runs a command to its end. */
export function run(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  return launch(args, env).ended;
}

/** Starts `serve` on a free port, unless PORT is given, and waits until it is ready. */
export async function launchService(
  env: Record<string, string>,
  nodeArgs: readonly string[] = [],
  bin?: string,
): Promise<RunningProcess & { readonly url: string }> {
  // With PUBLIC_URL it prints that URL instead, so the port must be known in advance.
  const port = env.PORT ?? (env.PUBLIC_URL === undefined ? '0' : String(await freePort()));
  const running = launch(['serve'], { PORT: port, ...env }, nodeArgs, bin);
  const announced = /^ {2}url {6}\S+:(\d+)$[\s\S]*^ {2}data /m;
  await untilPrinted(running, ({ stderr }) => /^ {2}data /m.test(stderr));
  const chosen = port === '0' ? announced.exec(running.output().stderr)?.[1] : port;
  assert.ok(chosen, `no URL in ${running.output().stderr}`);
  return { ...running, url: `http://127.0.0.1:${chosen}` };
}

/** A port below those of outgoing connections (32768 on Linux): only a listener can take it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    if (await isFree(port)) return port;
  }
}

/** Tries to listen on the port. */
async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

/** How long the main thread of a process has waited for a core so far: what other processes of this machine have cost it. */
export function waitedForCoreMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return Number.NaN; // it has ended
  }
}
