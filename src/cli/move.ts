// The `move` command: copies everything, including IDs and times, from the data folder to PostgreSQL or back. The source is
// only read. A move can be interrupted and run again. The target cannot be served until both sides compare as equal.
// Each step can be repeated, and resumes where an earlier run ended.
import { readFileSync } from 'node:fs';
import {
  type Config,
  describeData,
  hasDatabasePassword,
  readConfig,
  withDatabase,
  withDatabasePassword,
  withFolder,
} from '../config.ts';
import { AppError, StartError } from '../domain/errors.ts';
import { type Digest, digest, TABLE_NAMES, type Table, type TransferStore } from '../domain/transfer.ts';
import { openTransfer } from '../engines.ts';
import { type Env, type Io, onStopSignal, readArguments, UsageError } from './command.ts';
import { grouped, Progress, type Screen } from './progress.ts';

export async function move(args: string[], env: Env, io: Io): Promise<number> {
  const { from, to } = readSides(args, readConfig(env));
  const stop = onStopSignal(io);
  const source = await openTransfer(from, 'source');
  try {
    const target = await openTransfer(to, 'target');
    try {
      const sides: Sides = {
        source: { store: source, name: describeData(from) },
        target: { store: target, name: describeData(to) },
      };
      const end = await moveAll(sides, io.stderr, stop.signal);
      return end === 'stopped' ? stop.exitCode()! : 0;
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Configurations of source and target. Throws UsageError, and StartError for a password file that cannot be read. */
export function readSides(args: string[], config: Config): { from: Config; to: Config } {
  const { from, to, 'password-file': passwordFile } = readOptions(args);
  const isToFolder = to === undefined ? isUrl(from) : !isUrl(to);
  if (isToFolder && to === undefined) throw new UsageError('move --from postgres://… needs --to FOLDER.');
  if (from !== undefined && to !== undefined && isUrl(from) === isUrl(to)) {
    throw new UsageError('move needs a data folder on one side and a postgres:// URL on the other.');
  }
  const option = isToFolder ? '--from' : '--to';
  const folder = isToFolder ? to : from;
  const url = isToFolder ? from : to;
  if (url === undefined && config.database === undefined) {
    throw new UsageError(`move needs ${option} with a postgres:// URL, or DATABASE_URL.`);
  }
  const named = url === undefined ? config : readDatabase(config, url, option);
  const database = passwordFile === undefined ? named : readPassword(named, passwordFile);
  const embedded = withFolder(config, folder ?? config.dataDir);
  return isToFolder ? { from: database, to: embedded } : { from: embedded, to: database };
}

/** Throws UsageError, also for a password: arguments are visible to every user of the machine. */
function readDatabase(config: Config, url: string, option: string): Config {
  let database: Config;
  try {
    database = withDatabase(config, url);
  } catch (error) {
    throw new UsageError(`${option} ${(error as Error).message}`);
  }
  if (!hasDatabasePassword(database)) return database;
  throw new UsageError(
    `${option} contains a password, which is visible in the list of processes and kept in the shell's history. ` +
      `Remove it from the URL, and set PGPASSWORD or add --password-file FILE. ` +
      `Or set DATABASE_URL instead of ${option}; that URL may contain the password.`,
  );
}

/** Throws UsageError or StartError. Messages never quote the file's content. */
function readPassword(database: Config, file: string): Config {
  if (hasDatabasePassword(database)) {
    throw new UsageError('--password-file is for a URL without a password, but DATABASE_URL contains one.');
  }
  let password: string;
  try {
    password = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (cause) {
    throw new StartError(`Cannot read the file of --password-file: ${(cause as Error).message}`, { cause });
  }
  if (password === '')
    throw new StartError('The file of --password-file is empty. Write the password into it.');
  return withDatabasePassword(database, password);
}

/** Throws UsageError. Messages never quote a value, which may contain a password. */
function readOptions(args: string[]): { from?: string; to?: string; 'password-file'?: string } {
  const { values, positionals } = readArguments({
    args,
    allowPositionals: true,
    options: { from: { type: 'string' }, to: { type: 'string' }, 'password-file': { type: 'string' } },
  });
  if (positionals.length > 0) throw new UsageError('move takes only --from, --to and --password-file.');
  for (const [name, value] of Object.entries(values)) {
    if (value.trim() !== '') continue;
    throw new UsageError(
      name === 'password-file'
        ? '--password-file needs a file that holds the password.'
        : `--${name} needs a folder or a postgres:// URL.`,
    );
  }
  return values;
}

function isUrl(place: string | undefined): boolean {
  return place?.includes('://') ?? false;
}

/** Of the longest name. */
const WIDTH = Math.max(...TABLE_NAMES.map((table) => table.length));

async function moveAll(sides: Sides, screen: Screen, stop: AbortSignal): Promise<'done' | 'stopped'> {
  const { source, target } = sides;
  const whole = new Progress('rows', screen);
  try {
    const total = await countRows(source);
    const start = await startOrResume(sides);
    const before = await countRows(target);
    whole.note(`moving ${grouped(total)} rows from ${source.name} to ${target.name}`);
    if (start === 'resumed') whole.note(`resuming: ${grouped(before)} rows are already there`);
    await step('copied', total - before, screen, stop, (onRows) => copy(sides, onRows));
    const results = await step('compared', total * 2, screen, stop, (onRows) => compare(sides, onRows));
    requireSame(results, sides);
    await target.store.finish();
    for (const { table, source: digest } of results) {
      const checksum = `sha256 ${digest.sha256.slice(0, 16)}…`;
      whole.note(`  ${table.padEnd(WIDTH)} ${grouped(digest.rows).padStart(11)}  identical  ${checksum}`);
    }
    whole.note(
      `done in ${whole.seconds.toFixed(1)} s: ${target.name} holds everything, ${source.name} is unchanged`,
    );
    return 'done';
  } catch (error) {
    if (stop.aborted && error === stop.reason) {
      whole.note(`stopped in ${whole.seconds.toFixed(1)} s; run the same command again to continue`);
      return 'stopped';
    }
    if (error instanceof StartError) throw error;
    const cause = error instanceof AppError && error.cause instanceof Error ? error.cause : (error as Error);
    throw new StartError(`The move failed: ${cause.message}. Run the same command again to continue.`, {
      cause: error,
    });
  }
}

/** Runs one step with a progress bar. Throws the signal's reason if it is aborted. */
async function step<T>(
  verb: string,
  total: number,
  screen: Screen,
  stop: AbortSignal,
  work: (onRows: OnRows) => Promise<T>,
): Promise<T> {
  const progress = new Progress(`rows ${verb}`, screen);
  let done = 0;
  try {
    stop.throwIfAborted();
    return await work((count) => {
      stop.throwIfAborted();
      done += count;
      progress.update(done, total > 0 ? Math.min(1, done / total) : undefined);
    });
  } finally {
    progress.clear();
  }
}

/** Throws StartError with the tables that differ. */
function requireSame(results: readonly TableComparison[], { target }: Sides): void {
  const differing = results.filter(({ isSame }) => !isSame);
  if (differing.length === 0) return;
  const tables = differing.map(
    ({ table, source, target: { rows } }) =>
      `${table} (${grouped(source.rows)} rows in the source, ${grouped(rows)} in the target)`,
  );
  throw new StartError(
    `${target.name} differs from the source in ${tables.join(', ')}: one of the two changed during the move. ` +
      `The target will not be served. Start over: ${target.store.howToEmpty}, and run "move" again.`,
  );
}

/** Store and its name in messages. */
interface Side {
  readonly store: TransferStore;
  readonly name: string;
}

interface Sides {
  readonly source: Side;
  readonly target: Side;
}

/** Called with the number of rows just processed. Throws to stop. */
type OnRows = (count: number) => void;

/** Counts the rows in all tables. */
async function countRows({ store }: Side): Promise<number> {
  let count = 0;
  for (const table of TABLE_NAMES) count += await store.count(table);
  return count;
}

/** Starts a move, or resumes an earlier run. Throws StartError if the target holds anything other than a part of this source. */
async function startOrResume({ source, target }: Sides): Promise<'started' | 'resumed'> {
  const unfinished = await source.store.findUnfinished();
  if (unfinished !== undefined) {
    throw new StartError(
      `${source.name} holds only part of the data of ${unfinished}: that move did not finish. Finish it first.`,
    );
  }
  const earlier = await target.store.findUnfinished();
  if (earlier === source.name) return 'resumed';
  if (earlier !== undefined) {
    throw new StartError(
      `${target.name} holds part of the data of ${earlier}, not of ${source.name}. ` +
        `Move from ${earlier}, or start over: ${target.store.howToEmpty}, and run "move" again.`,
    );
  }
  // Settings do not count: a service that was only started has some.
  for (const table of ['agents', 'events', 'audit'] as const) {
    if ((await target.store.count(table)) === 0) continue;
    throw new StartError(
      `${target.name} already holds data (${table}). Move to an empty database or folder.`,
    );
  }
  await target.store.begin(source.name);
  return 'started';
}

/** Copies the rows that are not in the target yet. */
async function copy({ source, target }: Sides, onRows: OnRows): Promise<void> {
  for (const table of TABLE_NAMES) {
    const last = await target.store.findLastKey(table);
    for await (const rows of source.store.rows(table, last)) {
      await target.store.write(table, rows);
      onRows(rows.length);
    }
  }
}

interface TableComparison {
  readonly table: Table;
  readonly source: Digest;
  readonly target: Digest;
  readonly isSame: boolean;
}

/** Compares all tables; reads both sides completely. */
async function compare(sides: Sides, onRows: OnRows): Promise<TableComparison[]> {
  const results: TableComparison[] = [];
  for (const table of TABLE_NAMES) {
    const [source, target] = await Promise.all([
      digest(sides.source.store.rows(table), onRows),
      digest(sides.target.store.rows(table), onRows),
    ]);
    const isSame = source.rows === target.rows && source.sha256 === target.sha256;
    results.push({ table, source, target, isSame });
  }
  return results;
}
