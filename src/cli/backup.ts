// The `backup` command: copies all data, including keys, to one file. It only reads, so the service may be running.
import { readConfig } from '../config.ts';
import { backupTo } from '../engines.ts';
import type { Env, Io } from './command.ts';
import { readFileName, runCopy } from './copy-command.ts';

export async function backup(args: string[], env: Env, io: Io): Promise<number> {
  const file = readFileName('backup', args);
  const config = readConfig(env);
  return runCopy('backup', file, io, (control) => backupTo(config, file, control));
}
