// Speed of `import`, run as an operator runs it, compared with plain inserts of the same rows.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE, prepareFolder } from './data.ts';
import type { InsertInput, InsertOutput } from './plain-insert.ts';
import { runCommand, runScript, secondsOf } from './processes.ts';
import { median, type Spread, spread } from './statistics.ts';

export interface ImportResult {
  readonly rows: number;
  /** Rows per second. */
  readonly imported: number;
  readonly inserted: number;
  readonly ratio: Spread;
}

const ROUNDS = 3;
/** The number that the target is defined for; this many rows fit in memory. */
const MAX_ROWS = 1_000_000;

/** Runs both one after the other, each into a new folder, in reverse order every second round. */
export async function measureImport(events: number): Promise<ImportResult> {
  const rows = Math.min(events, MAX_ROWS);
  const file = await writeLines(prepareFolder(rows));
  const dataFolder = join(CACHE, 'import');
  const clear = () => rmSync(dataFolder, { recursive: true, force: true });
  const seconds = { import: [] as number[], insert: [] as number[] };
  const measure = {
    import: () => secondsOf(() => importFile(file, dataFolder, rows)),
    insert: () => insertRows(file, dataFolder, rows),
  };
  for (let round = 0; round < ROUNDS; round++) {
    const order = ['import', 'insert'] as const;
    for (const name of round % 2 === 0 ? order : order.toReversed()) {
      clear();
      seconds[name].push(await measure[name]());
    }
  }
  clear();
  return {
    rows,
    imported: rows / median(seconds.import),
    inserted: rows / median(seconds.insert),
    ratio: spread(seconds.import.map((took, round) => seconds.insert[round]! / took)),
  };
}

/** Exports the folder's events as NDJSON of create bodies, once. Returns the file. */
async function writeLines(folder: string): Promise<string> {
  const file = `${folder}.ndjson`;
  if (!existsSync(file)) await runCommand(['export', '--out', file], { DATA_DIR: folder });
  return file;
}

async function importFile(file: string, dataFolder: string, rows: number): Promise<void> {
  const args = ['import', file, '--email', 'import@example.com', '--name', 'Importer'];
  const noLimits = { MAX_EVENTS_PER_AGENT: '0', MAX_MB_PER_AGENT: '0' };
  const printed = await runCommand(args, { DATA_DIR: dataFolder, ...noLimits });
  if (!printed.includes(` ${rows} imported, `))
    throw new Error(`not every line was imported:\n${printed.slice(-1_000)}`);
}

async function insertRows(file: string, dataFolder: string, rows: number): Promise<number> {
  const output = await runScript<InsertOutput>('plain-insert.ts', { file, dataFolder } satisfies InsertInput);
  if (output.rows !== rows) throw new Error(`${output.rows} rows were inserted, not ${rows}`);
  return output.seconds;
}
