// Reads events by row number. Runs on the event reader thread.
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { toWire, type Wire } from '../../domain/wire.ts';
import type { StoredEvents } from '../../memory/event-lookup.ts';
import type { Batches, CallOf, Outcome } from './rpc-server.ts';

interface FoundEvent {
  readonly id: string;
  readonly version: number;
  readonly json: Wire;
}

const NONE: FoundEvent = { id: '', version: 0, json: '' as Wire };

export interface EventReaderCalls {
  ping(): void;
  findEvents(rows: readonly number[]): StoredEvents;
}

/** Row numbers per statement. Unused parameters are NULL. */
const ROWS_PER_STATEMENT = 32;

/** Enough for the inner B-tree pages of a table of ten million rows. */
const CACHE_KIB = 16_384;

export class EventReader implements Batches<EventReaderCalls> {
  readonly #database: DatabaseSync;
  readonly #one: StatementSync;
  readonly #many: StatementSync;

  constructor(path: string) {
    this.#database = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
    this.#database.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
    const select = 'SELECT row_id, event_id, version, json FROM events WHERE row_id';
    const placeholders = Array(ROWS_PER_STATEMENT).fill('?').join(', ');
    this.#one = this.#database.prepare(`${select} = ?`);
    this.#many = this.#database.prepare(`${select} IN (${placeholders})`);
    this.#one.setReturnArrays(true);
    this.#many.setReturnArrays(true);
  }

  /** Each statement reads the latest commit, so the rows of one page may come from different commits. */
  run(batch: readonly CallOf<EventReaderCalls>[]): Outcome[] {
    const found = this.#find(batch.flatMap(({ args }) => args[0] ?? []));
    return batch.map(({ args }) => ({ value: args[0] && toStoredEvents(args[0], found) }));
  }

  close(): void {
    this.#database.close();
  }

  #find(rows: readonly number[]): Map<number, FoundEvent> {
    const found = new Map<number, FoundEvent>();
    for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT) {
      const batchRows: (number | null)[] = rows.slice(from, from + ROWS_PER_STATEMENT);
      for (const values of batchRows.length === 1
        ? this.#one.all(batchRows[0]!)
        : this.#findMany(batchRows)) {
        const [row, id, version, json] = values as unknown as [number, string, number, string];
        found.set(row, { id, version, json: toWire(json) });
      }
    }
    return found;
  }

  #findMany(rows: (number | null)[]) {
    while (rows.length < ROWS_PER_STATEMENT) rows.push(null);
    return this.#many.all(...rows);
  }
}

function toStoredEvents(rows: readonly number[], found: ReadonlyMap<number, FoundEvent>): StoredEvents {
  const events = rows.map((row) => found.get(row) ?? NONE);
  return {
    ids: events.map(({ id }) => id),
    versions: events.map(({ version }) => version),
    jsons: events.map(({ json }) => json),
  };
}
