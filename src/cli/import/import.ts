// The `import` command: writes events from JSON lines, GeoJSON or iCalendar directly to the store. The key of a new
// agent goes to standard output, which gets nothing else, or to a file. Refused items, progress and the summary go to standard error.

import { once } from 'node:events';
import { createReadStream, type ReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { addAbortSignal, type Readable } from 'node:stream';
import { readConfig } from '../../config.ts';
import type { AgentRow } from '../../domain/agent.ts';
import { fingerprint, hashSecret, isApiKey, newApiKey } from '../../domain/api-key.ts';
import { AppError, StartError } from '../../domain/errors.ts';
import { newUuid } from '../../domain/ids.ts';
import type { AgentLimits, Policy } from '../../domain/policy.ts';
import type { BulkWriter } from '../../domain/store.ts';
import { openBulkWriter } from '../../engines.ts';
import { systemClock, systemRandom } from '../../system.ts';
import { requireWriter } from '../../usecases/access.ts';
import { type Env, type Io, onStopSignal, printable } from '../command.ts';
import { openKeyOutput } from '../key-output.ts';
import { Progress } from '../progress.ts';
import { expectFormat } from './import-formats.ts';
import { type Item, ItemImport, type Tally } from './import-items.ts';
import { hintFor, type ImportOptions, readImportOptions } from './import-options.ts';

/** All items of a chunk are in memory at once, and may take a hundred times its size. */
const CHUNK_BYTES = 65_536;
/** Longer than any key. Reading stops here. */
const MAX_KEY_LINE_BYTES = 1_024;

export async function importEvents(args: string[], env: Env, io: Io): Promise<number> {
  const options = readImportOptions(args, systemClock());
  const config = readConfig(env);
  const input = await openInput(options.file, io);
  const key = options.newAgent ? newApiKey(systemRandom) : await readKey(io);
  const output = openKeyOutput(options.keyFile, io);
  const writer = await openBulkWriter(config).catch((error: unknown) => {
    output.discard();
    throw error;
  });
  try {
    const agent = await getAgent(writer, key, options, config.policy);
    if (options.newAgent) output.write(key);
    const stop = onStopSignal(io);
    const tally = await importInto(writer, agent, input, options, config.policy, io, stop.signal);
    return stop.exitCode() ?? (tally.refused > 0 ? 1 : 0);
  } finally {
    output.discard();
    input.stream.destroy();
    await writer.close();
  }
}

interface Input {
  readonly stream: Readable;
  /** Fraction read, from 0 to 1; undefined if the size is unknown. */
  share(): number | undefined;
}

async function openInput(file: string, { stdin }: Io): Promise<Input> {
  if (file === '-') return { stream: stdin, share: () => undefined };
  try {
    const stream: ReadStream = createReadStream(file, { highWaterMark: CHUNK_BYTES });
    await once(stream, 'open');
    const info = await stat(file);
    if (info.isDirectory()) throw new Error('it is a folder');
    return { stream, share: () => (info.size > 0 ? Math.min(1, stream.bytesRead / info.size) : undefined) };
  } catch (cause) {
    throw new StartError(`${file} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

/** Reads the first line of standard input. */
async function readKey({ stdin }: Io): Promise<string> {
  let text = '';
  for await (const chunk of stdin) {
    text += chunk;
    if (text.includes('\n') || text.length > MAX_KEY_LINE_BYTES) break;
  }
  return text.split('\n', 1)[0]!.trim();
}

/** The agent that will own the events: a new one, or the owner of the key. Throws StartError. */
async function getAgent(
  writer: BulkWriter,
  key: string,
  { newAgent }: ImportOptions,
  policy: Policy,
): Promise<AgentRow> {
  if (newAgent) {
    const created_ms = systemClock();
    const agent_id = newUuid(created_ms, systemRandom);
    // This agent must be able to publish, even if agents that register themselves may only read.
    const tier = policy.registrationTier === 'read' ? 'readwrite' : policy.registrationTier;
    const agent: AgentRow = { agent_id, ...newAgent, tier, is_active: true, created_ms };
    try {
      await writer.addAgent(agent, fingerprint(key));
    } catch (cause) {
      if (!(cause instanceof AppError)) throw cause;
      throw new StartError(`The import cannot begin: ${reasonOf(cause)}.`, { cause });
    }
    return agent;
  }
  if (!isApiKey(key)) {
    throw new StartError(
      'The first line of standard input is not an API key of this service. Check it for typing errors.',
    );
  }
  const agent = await writer.findAgentByKey(hashSecret(key), systemClock());
  if (!agent) {
    throw new StartError(
      'The API key is not active: revoked, deactivated or never issued here. Use another.',
    );
  }
  try {
    requireWriter(agent);
  } catch (cause) {
    throw new StartError((cause as Error).message, { cause });
  }
  return agent;
}

async function importInto(
  writer: BulkWriter,
  { agent_id }: AgentRow,
  input: Input,
  { format, isFormatGuessed, defaults }: ImportOptions,
  limits: AgentLimits,
  { stderr }: Io,
  stop: AbortSignal,
): Promise<Tally> {
  const progress = new Progress(format.nouns, stderr);
  const run = new ItemImport({
    writer,
    agentId: agent_id,
    limits,
    clock: systemClock,
    random: systemRandom,
    onRefused: (number, reason) => progress.note(`${format.noun} ${number}: ${reason}`),
    ...(format.takesDefaults && { hintFor }),
  });
  const summarise = (end: string) => {
    const { read, imported, existing, refused } = run.tally;
    progress.note(
      `${end} in ${progress.seconds.toFixed(1)} s: ` +
        `${read} read, ${imported} imported, ${existing} already there, ${refused} refused`,
    );
  };
  try {
    const bytes = addAbortSignal(stop, input.stream);
    const items = format.readItems(isFormatGuessed ? expectFormat(bytes, format) : bytes, defaults);
    const problem = await addAll(run, items, () => progress.update(run.tally.read, input.share()));
    await run.finish();
    await writer.finish();
    if (problem) throw problem;
  } catch (error) {
    await run.settle();
    summarise('failed');
    throw new StartError(
      `The import failed: ${reasonOf(error as Error)}. Imported events are kept. To continue, run it again with --key-stdin.`,
      { cause: error },
    );
  }
  summarise(stop.aborted ? 'stopped' : 'done');
  return run.tally;
}

function reasonOf(error: Error): string {
  const { message, cause } = error;
  const reason = printable(error instanceof AppError && cause instanceof Error ? cause.message : message);
  return reason === 'database or disk is full' ? `${reason}. Free some space` : reason;
}

/** Adds all items. If the file is invalid, adds the items before the fault and returns the error. Throws UNAVAILABLE. */
async function addAll(
  run: ItemImport,
  batches: AsyncIterable<Item[]>,
  onAdded: () => void,
): Promise<StartError | undefined> {
  try {
    for await (const items of batches) {
      await run.add(items);
      onAdded();
    }
  } catch (error) {
    if (error instanceof StartError) return error;
    if ((error as Error).name !== 'AbortError') throw error;
  }
  return undefined;
}
