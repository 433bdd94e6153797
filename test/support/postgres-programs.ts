// Starts Debian's PostgreSQL programs as the user that they require, and finds and signals the processes of a server.
// postgres-cluster.ts uses them.
import { type ChildProcess, execFile, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findPostgres, HOW_TO_INSTALL_POSTGRES } from '../../scripts/machine.ts';

/** PostgreSQL refuses to run as root; Debian's packages bring a user for it. setpriv becomes the program that it starts. */
export const AS_ITS_USER =
  process.getuid!() === 0 ? ['--reuid=postgres', '--regid=postgres', '--clear-groups'] : [];

/** The full path. If PostgreSQL or PostGIS is missing, the error names the command that installs them. */
export function getProgram(name: string): string {
  const folder = findPostgres();
  if (folder === undefined)
    throw new Error(`PostgreSQL with PostGIS is missing. Install it, on Debian: ${HOW_TO_INSTALL_POSTGRES}`);
  return join(folder, name);
}

/** Runs a program to its end. If it fails, the error has its output. */
export async function runProgram(name: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)('setpriv', [...AS_ITS_USER, getProgram(name), ...args], { cwd: tmpdir() });
}

/** Starts the server. It ends with this process, even if that is killed and no handler runs. */
export function spawnServer(args: readonly string[], options: SpawnOptions): ChildProcess {
  return spawn('setpriv', ['--pdeathsig=QUIT', ...AS_ITS_USER, getProgram('postgres'), ...args], options);
}

/** A new folder owned by the server's user. If PostgreSQL is missing, the error names the command that installs it. */
export function makeServerFolder(): string {
  getProgram('postgres');
  const template = join(tmpdir(), 'local-events-postgres-XXXXXX');
  return execFileSync('setpriv', [...AS_ITS_USER, 'mktemp', '-d', template], { encoding: 'utf8' }).trim();
}

/** PIDs of the children; none if the process has ended. */
export function childrenOf(pid: number): number[] {
  const pids = readProc(pid, `task/${pid}/children`)?.match(/\d+/g) ?? [];
  return pids.map(Number);
}

/** A process that has ended is not alive, even if its exit code has not been read yet. */
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

/** Sends a signal to those that still run. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended.
    }
  }
}
