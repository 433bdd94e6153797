// `move`: everything from the data folder to PostgreSQL, or back, identifiers and times included. The source is only read.
// It can be interrupted at any point and run again; the target is not served before both sides are seen to be the same.
import { parseArgs } from 'node:util';
import { type Config, describeData, readConfig, withDatabase, withFolder } from '../config.ts';
import { AppError, StartError } from '../domain/errors.ts';
import { openTransfer } from '../service.ts';
import type { Env, Io } from './command.ts';
import {
  beginOrGoOn,
  type Compared,
  compare,
  copy,
  countRows,
  type OnRows,
  type Sides,
} from './move-tables.ts';
import { grouped, Progress, type Screen } from './progress.ts';
import { onStopSignal } from './stop-signal.ts';
import { UsageError } from './usage-error.ts';

export async function move(args: string[], env: Env, io: Io): Promise<number> {
  const { from, to } = readPlaces(args, readConfig(env));
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

/** Throws UsageError for what cannot be meant. */
export function readPlaces(args: string[], config: Config): { from: Config; to: Config } {
  const { from, to } = readOptions(args);
  const isWayBack = to === undefined ? isAddress(from) : !isAddress(to);
  if (isWayBack && to === undefined) throw new UsageError('move --from postgres://… needs --to FOLDER.');
  if (from !== undefined && to !== undefined && isAddress(from) === isAddress(to)) {
    throw new UsageError('move goes from a data folder to a postgres:// address, or back.');
  }
  const option = isWayBack ? '--from' : '--to';
  const folder = isWayBack ? to : from;
  const address = (isWayBack ? from : to) ?? config.database?.url;
  if (address === undefined) {
    throw new UsageError(`move needs ${option} with a postgres:// address, or DATABASE_URL.`);
  }
  const database = readAddress(config, address, option);
  const embedded = withFolder(config, folder ?? config.dataDir);
  return isWayBack ? { from: database, to: embedded } : { from: embedded, to: database };
}

function readAddress(config: Config, address: string, option: string): Config {
  try {
    return withDatabase(config, address);
  } catch (error) {
    throw new UsageError(`${option} ${(error as Error).message}`);
  }
}

/** No message repeats a value: it may hold a password. */
function readOptions(args: string[]): { from?: string; to?: string } {
  let parsed: ReturnType<typeof parse>;
  const parse = () =>
    parseArgs({
      args,
      allowPositionals: true,
      options: { from: { type: 'string' }, to: { type: 'string' } },
    });
  try {
    parsed = parse();
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const { values, positionals } = parsed;
  if (positionals.length > 0) throw new UsageError('move takes --from and --to, and nothing else.');
  for (const [name, value] of Object.entries(values)) {
    if (value.trim() === '') throw new UsageError(`--${name} needs a folder or a postgres:// address.`);
  }
  return values;
}

function isAddress(place: string | undefined): boolean {
  return place?.includes('://') ?? false;
}

async function moveAll(sides: Sides, screen: Screen, stop: AbortSignal): Promise<'done' | 'stopped'> {
  const { source, target } = sides;
  const whole = new Progress('rows', screen);
  try {
    const total = await countRows(source);
    const start = await beginOrGoOn(sides);
    const before = await countRows(target);
    whole.note(`moving ${grouped(total)} rows from ${source.name} to ${target.name}`);
    if (start === 'going on') whole.note(`going on: ${grouped(before)} rows are there already`);
    await step('copied', total - before, screen, stop, (onRows) => copy(sides, onRows));
    const results = await step('compared', total * 2, screen, stop, (onRows) => compare(sides, onRows));
    requireSame(results, sides);
    await target.store.finish();
    for (const { table, here } of results) {
      const checksum = `sha256 ${here.sha256.slice(0, 16)}…`;
      whole.note(`  ${table.padEnd(14)} ${grouped(here.rows).padStart(11)}  identical  ${checksum}`);
    }
    whole.note(
      `done in ${whole.seconds.toFixed(1)} s: ${target.name} holds everything, ${source.name} is as it was`,
    );
    return 'done';
  } catch (error) {
    if (stop.aborted && error === stop.reason) {
      whole.note(`stopped in ${whole.seconds.toFixed(1)} s; run the same command again to go on`);
      return 'stopped';
    }
    if (error instanceof StartError) throw error;
    const cause = error instanceof AppError && error.cause instanceof Error ? error.cause : (error as Error);
    throw new StartError(`The move ended early: ${cause.message}. Run the same command again to go on.`, {
      cause: error,
    });
  }
}

/** Shows how far the work is, and ends it where that is asked for. */
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

/** Throws StartError naming the tables that are not the same. */
function requireSame(results: readonly Compared[], { target }: Sides): void {
  const differing = results.filter(({ isSame }) => !isSame);
  if (differing.length === 0) return;
  const tables = differing.map(
    ({ table, here, there }) => `${table} (${grouped(here.rows)} rows, and ${grouped(there.rows)} there)`,
  );
  throw new StartError(
    `${target.name} is not the same as the source in ${tables.join(', ')}: one of the two was changed meanwhile. ` +
      `It will not be served. Begin anew: ${target.store.howToEmpty}, and run "move" again.`,
  );
}
