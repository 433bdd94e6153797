// `import`: events from a file of newline-delimited JSON straight into the data folder. Standard output gets the key of a
// new agent and nothing else; refused lines, progress and the summary go to standard error.
import { once } from 'node:events';
import { createReadStream, type ReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { addAbortSignal, type Readable } from 'node:stream';
import { parseArgs } from 'node:util';
import { type Config, readConfig } from '../config.ts';
import { type AgentRow, readRegistration } from '../domain/agent.ts';
import { fingerprint, hashApiKey, isApiKey, newApiKey } from '../domain/api-key.ts';
import { AppError, StartError } from '../domain/errors.ts';
import { newUuid } from '../domain/ids.ts';
import type { Archive } from '../domain/store.ts';
import { openArchive, systemClock, systemRandom } from '../service.ts';
import { requireWriter } from '../usecases/access.ts';
import { LineImport, type Tally } from './import-lines.ts';
import { readLines } from './ndjson.ts';
import { Progress } from './progress.ts';
import { onStopSignal } from './stop-signal.ts';
import { UsageError } from './usage.ts';

const CHUNK_BYTES = 1_048_576;
/** More than any key; what follows is not waited for. */
const MAX_KEY_LINE_BYTES = 1_024;

interface Options {
  readonly file: string;
  /** Undefined: the key of an existing agent comes on standard input. */
  readonly newAgent: { readonly email: string; readonly agent_name: string } | undefined;
}

export async function importEvents(args: string[]): Promise<void> {
  const options = readOptions(args);
  const config = readConfig(process.env);
  const input = await openInput(options.file);
  const key = options.newAgent ? newApiKey(systemRandom) : await readKey();
  const archive = await openArchive(config);
  try {
    const agent = await findAgent(archive, key, options, config);
    if (options.newAgent) console.log(key);
    const stop = onStopSignal();
    const tally = await importInto(archive, agent, input, config, stop.signal);
    process.exitCode = stop.exitCode() ?? (tally.refused > 0 ? 1 : 0);
  } finally {
    input.stream.destroy();
    await archive.close();
  }
}

function readOptions(args: string[]): Options {
  let parsed: ReturnType<typeof parse>;
  const parse = () =>
    parseArgs({
      args,
      allowPositionals: true,
      options: { email: { type: 'string' }, name: { type: 'string' }, 'key-stdin': { type: 'boolean' } },
    });
  try {
    parsed = parse();
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const { positionals, values } = parsed;
  const [file, ...rest] = positionals;
  if (!file || rest.length > 0) throw new UsageError('import needs one FILE, or - for standard input.');
  const isNew = values.email !== undefined || values.name !== undefined;
  if (isNew === (values['key-stdin'] ?? false)) {
    throw new UsageError(
      'import needs --email and --name for a new agent, or --key-stdin for an existing one.',
    );
  }
  if (!isNew) {
    if (file === '-') throw new UsageError('With --key-stdin the events cannot come on standard input too.');
    return { file, newAgent: undefined };
  }
  try {
    return { file, newAgent: readRegistration({ email: values.email, agent_name: values.name }) };
  } catch (error) {
    throw new UsageError(`--email and --name need an address and a name: ${(error as Error).message}`);
  }
}

interface Input {
  readonly stream: Readable;
  /** How much of it is read, from 0 to 1; undefined where its end is not known. */
  share(): number | undefined;
}

async function openInput(file: string): Promise<Input> {
  if (file === '-') return { stream: process.stdin, share: () => undefined };
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

/** The first line of standard input. */
async function readKey(): Promise<string> {
  let text = '';
  for await (const chunk of process.stdin) {
    text += chunk;
    if (text.includes('\n') || text.length > MAX_KEY_LINE_BYTES) break;
  }
  return text.split('\n', 1)[0]!.trim();
}

/** The agent that the events will belong to: a new one, or the one that holds the key. Throws StartError. */
async function findAgent(
  archive: Archive,
  key: string,
  { newAgent }: Options,
  config: Config,
): Promise<AgentRow> {
  if (newAgent) {
    const created_ms = systemClock();
    const agent_id = newUuid(created_ms, systemRandom);
    // It publishes, whatever those may do who register themselves.
    const tier = config.registrationTier === 'read' ? 'readwrite' : config.registrationTier;
    const agent: AgentRow = { agent_id, ...newAgent, tier, is_active: true, created_ms };
    await archive.addAgent(agent, fingerprint(key));
    return agent;
  }
  if (!isApiKey(key)) {
    throw new StartError(
      'The first line of standard input is not a key of this service: check it for typing errors.',
    );
  }
  const agent = await archive.findAgentByKey(hashApiKey(key), systemClock());
  if (!agent) throw new StartError('The key is not active: it was revoked, or never issued here.');
  try {
    requireWriter(agent);
  } catch (cause) {
    throw new StartError((cause as Error).message, { cause });
  }
  return agent;
}

async function importInto(
  archive: Archive,
  { agent_id }: AgentRow,
  input: Input,
  { maxEventsPerAgent }: Config,
  stop: AbortSignal,
): Promise<Tally> {
  const progress = new Progress('lines', process.stderr);
  const run = new LineImport({
    archive,
    agentId: agent_id,
    maxPerAgent: maxEventsPerAgent,
    clock: systemClock,
    random: systemRandom,
    onRefused: (line, reason) => progress.note(`line ${line}: ${reason}`),
  });
  const summarise = (end: string) => {
    const { read, imported, existing, refused } = run.tally;
    progress.note(
      `${end} in ${progress.seconds.toFixed(1)} s: ` +
        `${read} read, ${imported} imported, ${existing} already there, ${refused} refused`,
    );
  };
  try {
    await addAll(run, input, stop, progress);
    await run.finish();
  } catch (error) {
    await run.settle();
    summarise('failed');
    const { message, cause } = error as Error;
    const reason = error instanceof AppError && cause instanceof Error ? cause.message : message;
    throw new StartError(
      `The import ended early: ${reason}. What was imported stays; run it again with --key-stdin to go on.`,
      { cause: error },
    );
  }
  summarise(stop.aborted ? 'stopped' : 'done');
  return run.tally;
}

async function addAll(run: LineImport, { stream, share }: Input, stop: AbortSignal, progress: Progress) {
  try {
    for await (const lines of readLines(addAbortSignal(stop, stream))) {
      await run.add(lines);
      progress.update(run.tally.read, share());
    }
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error;
  }
}
