// Runs bulk commands as an operator would, with standard input or a signal in the middle, and reads the data that they
// leave.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRows } from '../sqlite/files.ts';
import { runHere } from '../support/command.ts';
import { BIN, cleanEnv, type Ended, launch } from '../support/process.ts';
import { temporaryFolder } from '../support/service.ts';

export const NEW_AGENT = ['--email', 'import@example.com', '--name', 'Importer'];

/** Starts the command line with a standard input that stays open. */
export function launchFed(args: readonly string[], env: Record<string, string>) {
  const child = spawn(process.execPath, [BIN, ...args], { env: cleanEnv(env), stdio: 'pipe' });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  child.stdin.on('error', () => {}); // the process may end before it has read everything
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...output }) as Ended);
  return { child, ended };
}

/** Runs a command to its end, with the given standard input. */
export function runFed(
  args: readonly string[],
  env: Record<string, string>,
  input: string | Buffer,
): Promise<Ended> {
  const { child, ended } = launchFed(args, env);
  child.stdin.end(input);
  return ended;
}

/** Starts a command and sends it the signal as soon as (or a little after) the folder has a half-written file. */
export async function interrupt(
  args: readonly string[],
  env: Record<string, string>,
  { folder, signal, delay }: { folder: string; signal: NodeJS.Signals; delay?: () => Promise<void> },
): Promise<Ended> {
  const watcher = watch(folder);
  const changes = on(watcher, 'change', { close: ['close'] });
  const { child, ended } = launch(args, env);
  void ended.then(() => watcher.close()); // it ended too early
  for await (const [, name] of changes) if (/\.(?:part|restoring)$/.test(name)) break;
  watcher.close();
  await delay?.();
  child.kill(signal);
  return ended;
}

/** A new file with this content. */
export function fileOf(content: string | Buffer, ending = 'ndjson'): string {
  const file = join(temporaryFolder(), `events.${ending}`);
  writeFileSync(file, content);
  return file;
}

export function toLines(bodies: readonly object[]): string {
  return bodies.map((body) => `${JSON.stringify(body)}\n`).join('');
}

/** Imports for a new agent; returns the output and the key. */
export async function importNew(
  content: string | Buffer,
  env: Record<string, string>,
  { ending = 'ndjson', options = [] }: { ending?: string; options?: readonly string[] } = {},
): Promise<Ended & { key: string }> {
  const ended = await runHere(['import', fileOf(content, ending), ...NEW_AGENT, ...options], env);
  assert.match(ended.stdout, /^lev_\w{38}\n$/, ended.stderr);
  return { ...ended, key: ended.stdout.trimEnd() };
}

export interface Summary {
  readonly end: string;
  readonly read: number;
  readonly imported: number;
  readonly existing: number;
  readonly refused: number;
}

/** The last line of standard error. */
export function summaryOf({ stderr }: Ended): Summary {
  const last = stderr.trimEnd().split('\n').at(-1)!;
  const match = /^(\w+) in \d+\.\d s: (\d+) read, (\d+) imported, (\d+) already there, (\d+) refused$/.exec(
    last,
  );
  assert.ok(match, stderr);
  const [read, imported, existing, refused] = match.slice(2).map(Number) as [number, number, number, number];
  return { end: match[1]!, read, imported, existing, refused };
}

/** The number and reason of each refusal. */
export function refusalsOf({ stderr }: Ended): [number: number, reason: string][] {
  return [...stderr.matchAll(/^(?:line|feature) (\d+): (.*)$/gm)].map((match) => [
    Number(match[1]),
    match[2]!,
  ]);
}

/** The number of events in the data folder, and the sum of the stored counts. */
export function countsIn(folder: string): { events: number; counted: number } {
  const sql =
    'SELECT (SELECT count(*) FROM events) AS events, (SELECT coalesce(sum(event_count), 0) FROM agents) AS counted';
  return readRows(join(folder, 'local-events.db'), sql)[0];
}
