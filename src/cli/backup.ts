// The commands `backup` and `restore`. A backup copies all data, including keys, to one file; it only reads the data, so the service may
// be running. A restore copies such a file to an empty data folder. With --keep, backups are named after the time at
// which they began, in one folder that keeps only the newest.

import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Config, readConfig } from '../config.ts';
import { DAY_MS } from '../domain/clock-and-random.ts';
import { StartError } from '../domain/errors.ts';
import type { CopyControl, StoreSummary } from '../domain/store.ts';
import { backupTo, noteBackup, requireEmbedded, restoreFrom } from '../engines.ts';
import { systemClock } from '../system.ts';
import { type Env, type Io, onStopSignal, readArguments, UsageError } from './command.ts';
import { Progress } from './progress.ts';

const MEGABYTE = 1_000_000;

export async function backup(args: string[], env: Env, io: Io): Promise<number> {
  const { file, keep: given } = readFileName('backup', args);
  const keep = given === undefined ? undefined : readKeep(given);
  const config = readConfig(env);
  const beganMs = systemClock();
  if (keep === undefined) return copyTo(file, config, beganMs, io);
  requireEmbedded(config);
  makeBackupFolder(file);
  const name = backupName(beganMs);
  const code = await copyTo(join(file, name), config, beganMs, io);
  if (code !== 0) return code;
  const { removed, later } = removeOldBackups(file, name, keep, beganMs);
  for (const old of removed) io.stderr.write(`removed ${old}\n`);
  if (later.length > 0) {
    io.stderr.write(
      `The clock is or was wrong: these have later times than this backup, do not count, and are kept until you remove them: ${later.join(', ')}\n`,
    );
  }
  return 0;
}

async function copyTo(file: string, config: Config, beganMs: number, io: Io): Promise<number> {
  const code = await runCopy('backup', file, io, (control) => backupTo(config, file, control));
  if (code !== 0) return code;
  await noteBackup(config, beganMs).catch((error: Error) =>
    io.stderr.write(`The metrics will not have the time of this backup: ${error.message}\n`),
  );
  return 0;
}

/** Throws UsageError. */
function readKeep(text: string): number {
  if (/^\d{1,4}$/.test(text) && Number(text) > 0) return Number(text);
  throw new UsageError('--keep needs a number of backups from 1 to 9999.');
}

export async function restore(args: string[], env: Env, io: Io): Promise<number> {
  const { file } = readFileName('restore', args);
  const config = readConfig(env);
  return runCopy('restore', config.dataDir, io, (control) => restoreFrom(config, file, control));
}

/** Absolute path of the only argument, and the value of `--keep`. Throws UsageError for any other number of arguments. */
function readFileName(command: string, args: string[]): { file: string; keep: string | undefined } {
  const options = { keep: { type: 'string' } } as const;
  const { positionals, values } = readArguments({ args, allowPositionals: true, options });
  const [file, ...rest] = positionals;
  const { keep } = values;
  if (keep !== undefined && command !== 'backup') throw new UsageError('--keep is for backup.');
  if (!file || rest.length > 0)
    throw new UsageError(`${command} needs one ${keep === undefined ? 'FILE' : 'FOLDER'}.`);
  return { file: resolve(file), keep };
}

/** Runs the copy, prints a summary of what `target` now holds, and resolves with the exit code. Throws StartError. */
async function runCopy(
  command: string,
  target: string,
  io: Io,
  copy: (control: CopyControl) => Promise<StoreSummary>,
): Promise<number> {
  const stop = onStopSignal(io);
  const progress = new Progress('MB', io.stderr);
  const onProgress = (doneBytes: number, totalBytes: number) => {
    const megabytes = Math.ceil(doneBytes / MEGABYTE);
    if (doneBytes === totalBytes) progress.milestone(`copied ${megabytes} MB, checking the copy`);
    else progress.update(megabytes, doneBytes / totalBytes);
  };
  try {
    const summary = await copy({ signal: stop.signal, onProgress });
    progress.note(`done in ${progress.seconds.toFixed(1)} s: ${target} holds ${describe(summary)}`);
    return 0;
  } catch (error) {
    progress.clear();
    if (stop.signal.aborted) {
      progress.note(`stopped in ${progress.seconds.toFixed(1)} s: nothing was written`);
      return stop.exitCode()!;
    }
    if (error instanceof StartError) throw error;
    throw new StartError(`The ${command} failed, nothing was written: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function describe({ events, agents, newestAt }: StoreSummary): string {
  const newest = newestAt === null ? '' : `, newest event created ${newestAt}`;
  return `${events} events and ${agents} agents${newest}`;
}

const NAME = /^local-events-\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}Z\.db$/;

/** What a backup that was killed has left. */
const PARTIAL = /^local-events-[\dTZ-]+\.db\.\d+\.part(?:-journal|-wal|-shm)?$/;

function backupName(nowMs: number): string {
  return `local-events-${new Date(nowMs).toISOString().slice(0, 19).replaceAll(':', '-')}Z.db`;
}

/** Creates the folder if only its last level is missing. Throws StartError. */
function makeBackupFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw new StartError(`${folder} cannot be created: ${message}`, { cause });
  }
}

interface Cleared {
  readonly removed: readonly string[];
  /** Names later than that of the backup just made: a clock was wrong. Nobody knows how old these are, so they do not count, and stay. */
  readonly later: readonly string[];
}

/**
 * Removes all but the newest backups up to the one just `made`, and partial ones that are older than a day. Other files are left alone.
 * Throws StartError.
 */
function removeOldBackups(folder: string, made: string, keep: number, nowMs: number): Cleared {
  try {
    const names = readdirSync(folder);
    const backups = names.filter((name) => NAME.test(name)).sort();
    const later = backups.filter((name) => name > made);
    const removed = backups.filter((name) => name <= made).slice(0, -keep);
    const partial = names.filter(
      (name) => PARTIAL.test(name) && statSync(join(folder, name)).mtimeMs < nowMs - DAY_MS,
    );
    for (const name of [...removed, ...partial]) rmSync(join(folder, name), { force: true });
    return { removed, later };
  } catch (cause) {
    const { message } = cause as Error;
    throw new StartError(`The backup is complete, but old ones in ${folder} cannot be removed: ${message}`, {
      cause,
    });
  }
}
