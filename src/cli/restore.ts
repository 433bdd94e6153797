// The `restore` command: copies a file made by `backup` to an empty data folder.
import { readConfig } from '../config.ts';
import { restoreFrom } from '../engines.ts';
import type { Env, Io } from './command.ts';
import { readFileName, runCopy } from './copy-command.ts';

export async function restore(args: string[], env: Env, io: Io): Promise<number> {
  const { file } = readFileName('restore', args);
  const config = readConfig(env);
  return runCopy('restore', config.dataDir, io, (control) => restoreFrom(config, file, control));
}
