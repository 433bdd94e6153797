// How a test process starts Debian's PostgreSQL programs, as the user that they demand, and finds and signals the
// processes of a server. What they are started for is in postgres-cluster.ts.
import { type ChildProcess, execFile, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findPostgres, HOW_TO_INSTALL_POSTGRES } from '../../scripts/machine.ts';

/** PostgreSQL refuses to run as root; Debian's packages bring a user for it. setpriv becomes the program that it starts. */
const AS_ITS_USER = process.getuid!() === 0 ? ['--reuid=postgres', '--regid=postgres', '--clear-groups'] : [];

/** The full path. Throws with the line to run where PostgreSQL or PostGIS is missing. */
export function getProgram(name: string): string {
  const folder = findPostgres();
  if (folder === undefined)
    throw new Error(`PostgreSQL with PostGIS is missing. Install it, on Debian: ${HOW_TO_INSTALL_POSTGRES}`);
  return join(folder, name);
}

/** Runs a program to its end. Throws with what it printed if it fails. */
export async function runProgram(name: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)('setpriv', [...AS_ITS_USER, getProgram(name), ...args], { cwd: tmpdir() });
}

/** Starts the server. It ends with this process, even where that is killed and no handler runs. */
export function spawnServer(args: readonly string[], options: SpawnOptions): ChildProcess {
  return spawn('setpriv', ['--pdeathsig=QUIT', ...AS_ITS_USER, getProgram('postgres'), ...args], options);
}

/** A new folder of the server's user. Throws with the line to run where PostgreSQL, and so the user, is missing. */
export function makeServerFolder(): string {
  getProgram('postgres');
  const template = join(tmpdir(), 'local-events-postgres-XXXXXX');
  return execFileSync('setpriv', [...AS_ITS_USER, 'mktemp', '-d', template], { encoding: 'utf8' }).trim();
}

/** None of a process that has ended. */
export function childrenOf(pid: number): number[] {
  const pids = readProc(pid, `task/${pid}/children`)?.match(/\d+/g) ?? [];
  return pids.map(Number);
}

/** A process that has ended is not alive, even if nobody has asked for its exit code yet. */
export function isAlive(pid: number): boolean {
  const status = readProc(pid, 'status');
  return status !== undefined && !/^State:\s+Z/m.test(status);
}

function readProc(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}

/** Sends a signal to those that are still there. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended.
    }
  }
}
