// `backup`: all data, keys included, as one file. Only reads, so a service may run beside it.
import { readConfig } from '../config.ts';
import { backupTo } from '../service.ts';
import type { Env, Io } from './command.ts';
import { readFileName, runCopy } from './copy-command.ts';

export async function backup(args: string[], env: Env, io: Io): Promise<number> {
  const file = readFileName('backup', args);
  const config = readConfig(env);
  return runCopy('backup', file, io, (control) => backupTo(config, file, control));
}
