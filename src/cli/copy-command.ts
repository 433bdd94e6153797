// Shared code of `backup` and `restore`: the FILE argument, progress and summary on standard error, and stop signals.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { StartError } from '../domain/errors.ts';
import type { CopyControl, StoreSummary } from '../domain/store.ts';
import { type Io, UsageError } from './command.ts';
import { Progress } from './progress.ts';
import { onStopSignal } from './stop-signal.ts';

const MEGABYTE = 1_000_000;

/** Absolute path of the only argument, and the value of `--keep`. Throws UsageError for any other number of arguments. */
export function readFileName(command: string, args: string[]): { file: string; keep: string | undefined } {
  let parsed: ReturnType<typeof parse>;
  const parse = () => parseArgs({ args, allowPositionals: true, options: { keep: { type: 'string' } } });
  try {
    parsed = parse();
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const [file, ...rest] = parsed.positionals;
  const { keep } = parsed.values;
  if (keep !== undefined && command !== 'backup') throw new UsageError('--keep is for backup.');
  if (!file || rest.length > 0)
    throw new UsageError(`${command} needs one ${keep === undefined ? 'FILE' : 'FOLDER'}.`);
  return { file: resolve(file), keep };
}

/** Runs the copy, prints a summary of what `target` now holds, and resolves with the exit code. Throws StartError. */
export async function runCopy(
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
