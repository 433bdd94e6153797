// `backup`: all data, keys included, as one file. Only reads, so a service may run beside it.
import { readConfig } from '../config.ts';
import { backupTo } from '../service.ts';
import { readFileName, runCopy } from './copy-command.ts';

export async function backup(args: string[]): Promise<void> {
  const file = readFileName('backup', args);
  const config = readConfig(process.env);
  await runCopy('backup', file, (control) => backupTo(config, file, control));
}
