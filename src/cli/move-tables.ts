// Steps of a move: check that source and target are suitable, copy table by table, compare. A step can be repeated and
// resumes where an earlier run ended.
import { StartError } from '../domain/errors.ts';
import { type Digest, digest, TABLE_NAMES, type Table, type TransferStore } from '../domain/transfer.ts';

/** Store and its name in messages. */
export interface Side {
  readonly store: TransferStore;
  readonly name: string;
}

export interface Sides {
  readonly source: Side;
  readonly target: Side;
}

/** Called with the number of rows just processed. Throws to stop. */
export type OnRows = (count: number) => void;

/** Counts the rows in all tables. */
export async function countRows({ store }: Side): Promise<number> {
  let count = 0;
  for (const table of TABLE_NAMES) count += await store.count(table);
  return count;
}

/** Starts a move, or resumes an earlier run. Throws StartError if the target holds anything other than a part of this source. */
export async function startOrResume({ source, target }: Sides): Promise<'started' | 'resumed'> {
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
export async function copy({ source, target }: Sides, onRows: OnRows): Promise<void> {
  for (const table of TABLE_NAMES) {
    const last = await target.store.findLastKey(table);
    for await (const rows of source.store.rows(table, last)) {
      await target.store.write(table, rows);
      onRows(rows.length);
    }
  }
}

export interface TableComparison {
  readonly table: Table;
  readonly source: Digest;
  readonly target: Digest;
  readonly isSame: boolean;
}

/** Compares all tables; reads both sides completely. */
export async function compare(sides: Sides, onRows: OnRows): Promise<TableComparison[]> {
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
