// `restore`: a file that `backup` made becomes the data of a folder that holds none yet.
import { readConfig } from '../config.ts';
import { restoreFrom } from '../service.ts';
import { readFileName, runCopy } from './copy-command.ts';

export async function restore(args: string[]): Promise<void> {
  const file = readFileName('restore', args);
  const config = readConfig(process.env);
  await runCopy('restore', config.dataDir, (control) => restoreFrom(config, file, control));
}
