// The `backup` command: copies all data, including keys, to one file. Of the data it only reads, so the service may be running.
import { join } from 'node:path';
import { type Config, readConfig } from '../config.ts';
import { backupTo, noteBackup, requireEmbedded } from '../engines.ts';
import { systemClock } from '../system.ts';
import { backupName, makeBackupFolder, removeOldBackups } from './backup-series.ts';
import { type Env, type Io, UsageError } from './command.ts';
import { readFileName, runCopy } from './copy-command.ts';

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
