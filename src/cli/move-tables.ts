// The steps of a move: what may be moved where, the copy of one table after the other, and the comparison at the end.
// Every step can be repeated, and goes on where an earlier run ended.
import { StartError } from '../domain/errors.ts';
import { type Digest, digest, TABLE_NAMES, type Table, type TransferStore } from '../domain/transfer.ts';

/** A store, and what operators call it. */
export interface Side {
  readonly store: TransferStore;
  readonly name: string;
}

export interface Sides {
  readonly source: Side;
  readonly target: Side;
}

/** Told how many rows were just dealt with. Throws to stop. */
export type OnRows = (count: number) => void;

/** Rows in all tables. */
export async function countRows({ store }: Side): Promise<number> {
  let count = 0;
  for (const table of TABLE_NAMES) count += await store.count(table);
  return count;
}

/** Whether an earlier run had begun. Throws StartError if the target holds anything else than a part of this source. */
export async function beginOrGoOn({ source, target }: Sides): Promise<'begun' | 'going on'> {
  const unfinished = await source.store.findUnfinished();
  if (unfinished !== undefined) {
    throw new StartError(
      `${source.name} holds only a part of the data of ${unfinished}: that move was not finished. Finish it first.`,
    );
  }
  const earlier = await target.store.findUnfinished();
  if (earlier === source.name) return 'going on';
  if (earlier !== undefined) {
    throw new StartError(
      `${target.name} holds a part of the data of ${earlier}, not of ${source.name}. ` +
        `Move from there, or begin anew: ${target.store.howToEmpty}, and run "move" again.`,
    );
  }
  // Settings do not count, nor do ended sessions: a service that was started once has made some.
  for (const table of ['agents', 'events', 'audit'] as const) {
    if ((await target.store.count(table)) === 0) continue;
    throw new StartError(
      `${target.name} holds data already (${table}). Move to a database or folder that is empty.`,
    );
  }
  await target.store.begin(source.name);
  return 'begun';
}

/** Copies what is not in the target yet. */
export async function copy({ source, target }: Sides, onRows: OnRows): Promise<void> {
  for (const table of TABLE_NAMES) {
    const last = await target.store.findLastKey(table);
    for await (const rows of source.store.rows(table, last)) {
      await target.store.write(table, rows);
      onRows(rows.length);
    }
  }
}

export interface Compared {
  readonly table: Table;
  readonly here: Digest;
  readonly there: Digest;
  readonly isSame: boolean;
}

/** Reads both sides from beginning to end. */
export async function compare({ source, target }: Sides, onRows: OnRows): Promise<Compared[]> {
  const results: Compared[] = [];
  for (const table of TABLE_NAMES) {
    const [here, there] = await Promise.all([
      digest(source.store.rows(table), onRows),
      digest(target.store.rows(table), onRows),
    ]);
    results.push({ table, here, there, isSame: here.rows === there.rows && here.sha256 === there.sha256 });
  }
  return results;
}
