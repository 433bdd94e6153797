// The `export` command: writes events as newline-delimited JSON, which `import` can read. It only reads the store, so the
// service may be running. Progress goes to standard error. A file gets its name when it is complete.
import { open, rename, rm } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { readConfig } from '../config.ts';
import { AppError, StartError } from '../domain/errors.ts';
import { encodeEventCreate } from '../domain/events/event.ts';
import { isUuid } from '../domain/ids.ts';
import type { BulkReader } from '../domain/store.ts';
import { openBulkReader } from '../engines.ts';
import { systemClock } from '../system.ts';
import { type Env, type Io, onStopSignal, readArguments, UsageError } from './command.ts';
import { Progress } from './progress.ts';

interface Options {
  readonly agentId: string | undefined;
  readonly file: string | undefined;
}

export async function exportEvents(args: string[], env: Env, io: Io): Promise<number> {
  const options = readOptions(args);
  const reader = await openBulkReader(readConfig(env), 'export');
  try {
    const total = await countEvents(reader, options.agentId);
    const stop = onStopSignal(io); // before the file exists, so that a signal always cleans it up
    const output = options.file === undefined ? toStream(io.stdout) : await openFile(options.file);
    const progress = new Progress('events', io.stderr);
    try {
      let written = 0;
      for await (const rows of reader.events(options.agentId)) {
        await output.write(rows.map((row) => `${encodeEventCreate(row)}\n`).join(''));
        written += rows.length;
        progress.update(written, Math.min(1, written / total));
        if (stop.signal.aborted) break;
      }
      const isComplete = !stop.signal.aborted;
      await (isComplete ? output.finish() : output.discard());
      progress.note(
        `${isComplete ? 'done' : 'stopped'} in ${progress.seconds.toFixed(1)} s: ${written} exported`,
      );
      return stop.exitCode() ?? 0;
    } catch (error) {
      progress.clear();
      await output.discard();
      const cause = error instanceof AppError ? error.cause : error;
      throw new StartError(`The export failed: ${(cause as Error).message}`, { cause });
    }
  } finally {
    await reader.close();
  }
}

function readOptions(args: string[]): Options {
  const options = { agent: { type: 'string' }, out: { type: 'string' } } as const;
  const { agent, out } = readArguments({ args, options }).values;
  if (agent !== undefined && !isUuid(agent)) throw new UsageError('--agent needs an agent ID (a UUID).');
  if (out === '') throw new UsageError('--out needs a file name.');
  return { agentId: agent?.toLowerCase(), file: out };
}

/** Counts the events of the agent, or all events. Throws StartError if the agent does not exist. */
async function countEvents(reader: BulkReader, agentId: string | undefined): Promise<number> {
  if (agentId === undefined) return reader.countEvents();
  const found = await reader.findAgentDetails(agentId, systemClock());
  if (!found) throw new StartError(`No agent has the ID ${agentId}. Check --agent.`);
  return found.agent.event_count;
}

interface Output {
  /** Resolves when the output can take more. */
  write(text: string): Promise<unknown>;
  finish(): Promise<void>;
  discard(): Promise<void>;
}

function toStream(stream: Writable): Output {
  const write = (text: string) =>
    new Promise<void>((resolve, reject) => {
      stream.write(text, (error) => (error ? reject(error) : resolve()));
    });
  return { write, finish: async () => {}, discard: async () => {} };
}

/** Writes under a temporary name until the data is complete and on disk, so that `file` is never partial. Throws StartError. */
async function openFile(file: string): Promise<Output> {
  const temporary = `${file}.${process.pid}.part`;
  try {
    const handle = await open(temporary, 'w', 0o600);
    return {
      write: (text) => handle.writeFile(text),
      finish: async () => {
        await handle.sync();
        await rename(temporary, file);
        await handle.close();
      },
      discard: async () => {
        await handle.close();
        await rm(temporary, { force: true });
      },
    };
  } catch (cause) {
    throw new StartError(`${file} cannot be written: ${(cause as Error).message}`, { cause });
  }
}
