// Reads events by row number, and words of events. Runs on a reader thread.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { EVENTS_PER_STEP } from '../../domain/administration/undo.ts';
import { textsOf, type Words, wordsOf } from '../../domain/events/words.ts';
import { toWire, type Wire } from '../../domain/wire.ts';
import type { StoredEvents } from '../../memory/event-lookup.ts';
import type { StoredWords } from '../../memory/memory-words.ts';

interface FoundEvent {
  readonly id: string;
  readonly version: number;
  readonly json: Wire;
}

const NONE: FoundEvent = { id: '', version: 0, json: '' as Wire };

export interface RowReaderCalls {
  findEvents(rows: readonly number[]): StoredEvents;
  /** Words of the events of the next rows. */
  wordsAfter(row: number): RowWords;
  /** The next events that are kept for this entry of the audit log, with their words. */
  deletedAfter(auditId: number, eventId: string): DeletedWords;
}

export interface DeletedWords {
  readonly ids: readonly string[];
  readonly words: readonly Words[];
  readonly hasMore: boolean;
}

export interface RowWords extends StoredWords {
  /** The last row that was read; undefined if none follow. */
  readonly lastRow: number | undefined;
}

/** Words of so many events are read at once, or of as many as have this much JSON: a few milliseconds, in which others wait. */
const WORDS_PER_CALL = 250;
const CHARS_PER_CALL = 100_000;

/** Row numbers per statement. Unused parameters are NULL. */
const ROWS_PER_STATEMENT = 32;

export class RowReader implements Omit<RowReaderCalls, 'findEvents'> {
  readonly #one: StatementSync;
  readonly #many: StatementSync;
  readonly #next: StatementSync;
  readonly #nextDeleted: StatementSync;

  constructor(database: DatabaseSync) {
    const select = 'SELECT row_id, event_id, version, json FROM events WHERE row_id';
    const placeholders = Array(ROWS_PER_STATEMENT).fill('?').join(', ');
    this.#one = database.prepare(`${select} = ?`);
    this.#many = database.prepare(`${select} IN (${placeholders})`);
    this.#next = database.prepare(`${select} > ? ORDER BY row_id LIMIT ${WORDS_PER_CALL}`);
    this.#next.setReturnArrays(true);
    this.#nextDeleted = database.prepare(
      `SELECT event_id, json FROM deleted_events WHERE audit_id = ? AND event_id > ? ORDER BY event_id LIMIT ${EVENTS_PER_STEP}`,
    );
    this.#one.setReturnArrays(true);
    this.#many.setReturnArrays(true);
  }

  /** Events of several calls, which share statements. */
  findEvents(calls: readonly (readonly number[])[]): StoredEvents[] {
    const found = this.#find(calls.flat());
    return calls.map((rows) => toStoredEvents(rows, found));
  }

  wordsAfter(after: number): RowWords {
    const ids: string[] = [];
    const versions: number[] = [];
    const words: Words[] = [];
    let lastRow: number | undefined;
    let chars = 0;
    for (const values of this.#next.iterate(after)) {
      const [row, id, version, json] = values as unknown as [number, string, number, string];
      ids.push(id);
      versions.push(version);
      words.push(wordsOf(textsOf(json)));
      lastRow = row;
      chars += json.length;
      if (chars > CHARS_PER_CALL) break;
    }
    return { ids, versions, words, lastRow };
  }

  deletedAfter(auditId: number, after: string): DeletedWords {
    const ids: string[] = [];
    const words: Words[] = [];
    let chars = 0;
    for (const { event_id, json } of this.#nextDeleted.iterate(auditId, after)) {
      ids.push(event_id as string);
      words.push(wordsOf(textsOf(json as string)));
      chars += (json as string).length;
      if (chars > CHARS_PER_CALL) break;
    }
    return { ids, words, hasMore: chars > CHARS_PER_CALL || ids.length === EVENTS_PER_STEP };
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
