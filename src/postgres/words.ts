// Words of events in the database: as a node reads them, as SQL searches them, and how rows without them get them.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../domain/errors.ts';
import type { Term } from '../domain/events/word-query.ts';
import { textsOf, WORDS_VERSION, type Words } from '../domain/events/words.ts';
import { fromWire, type Wire } from '../domain/wire.ts';
import { Tokenizer } from '../words/tokenizer.ts';
import type { Database } from './client/database.ts';
import type { Sql } from './client/driver.ts';

/** Number of our advisory lock: one node at a time adds words. */
const LOCK = 7_305_914_230;

/** Rows that get words in one transaction, and the pause after it: other writes come first. */
const ROWS_PER_STEP = 100;
const PAUSE_MS = 20;
/** Time after the start at which a node first looks for rows without words: the first requests come before that. */
const FIRST_PAUSE_MS = 5_000;
/** Time after which a node looks again for rows without words, and after a failure. */
const RECHECK_MS = 60_000;

/** A search by SQL waits this long until all rows have words. */
const PATIENCE_MS = 5_000;
const BUSY_PAUSE_MS = 100;

export const tokenizer = new Tokenizer();

/** SQL: the words of a row, or its JSON in hexadecimal digits after a brace if this version did not find them. */
export const STORED_WORDS = `CASE WHEN words_by = ${WORDS_VERSION} THEN coalesce(array_to_string(tsvector_to_array(words), ' '), '')
  ELSE '{' || encode(convert_to(json, 'UTF8'), 'hex') END`;

/** Whether the text, read with STORED_WORDS, has words, which need not be found in the JSON. */
export function isRead(text: string): boolean {
  return !text.startsWith('{');
}

/** The words of a row that was read with STORED_WORDS. */
export function readWords(text: string): Words | Promise<Words> {
  if (isRead(text)) return text as Words;
  return tokenizer.wordsOf(textsOf(Buffer.from(text.slice(1), 'hex').toString()));
}

/** The words as a text parameter, with one space between two. */
export function wordsText(words: Words): string {
  return fromWire(words).trim().replaceAll(/ {2,}/g, ' '); // decoded first: to trim(), the byte a0 would be white space
}

/** SQL: the value of the column, from such a parameter. */
export function wordsFrom(parameter: string): string {
  return `array_to_tsvector(string_to_array(${parameter}, ' '))`;
}

/** The text of a tsquery. Words have letters, digits and marks only, so quoting them needs no escapes. */
export function tsqueryOf(terms: readonly Term[]): string {
  const quoted = (word: Wire) => `'${fromWire(word)}'`;
  return terms
    .map(({ isNegative, words, prefix }) => {
      const all = [...words.map(quoted), ...(prefix === undefined ? [] : [`${quoted(prefix)}:*`])];
      return `${isNegative ? '!' : ''}(${all.join(' & ')})`;
    })
    .join(' & ');
}

/** SQL: whether a row may lack words. */
export const HAS_UNKNOWN_WORDS = `EXISTS (SELECT 1 FROM events WHERE words_by < ${WORDS_VERSION})`;

interface Wordless {
  readonly event_id: string;
  readonly json: string;
}

/** Adds words to rows that were stored without them. */
export class WordFilling {
  readonly #database: Database;
  readonly #stop = new AbortController();
  #step: Promise<Step> | undefined;

  constructor(database: Database) {
    this.#database = database;
    void this.#run();
  }

  close(): void {
    this.#stop.abort();
  }

  /** Resolves when all rows have words. Throws UNAVAILABLE if that takes too long. */
  async complete(): Promise<void> {
    const untilMs = performance.now() + PATIENCE_MS;
    for (;;) {
      const step = await this.#next();
      if (step === 'done') return;
      if (performance.now() > untilMs) throw wordsUnknown();
      if (step === 'busy') await sleep(BUSY_PAUSE_MS);
    }
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    const pause = (ms: number) => sleep(ms, undefined, { signal, ref: false }).catch(() => {});
    await pause(FIRST_PAUSE_MS);
    while (!signal.aborted) {
      // For example without a primary; the next attempt adds the same.
      const step = await this.#next().catch(() => 'failed');
      await pause(step === 'more' ? PAUSE_MS : RECHECK_MS);
    }
  }

  /** One step at a time. */
  #next(): Promise<Step> {
    this.#step ??= this.#database.transaction('repeatable', addWords).finally(() => {
      this.#step = undefined;
    });
    return this.#step;
  }
}

/** 'busy': another node is at it. */
type Step = 'more' | 'done' | 'busy';

async function addWords(sql: Sql): Promise<Step> {
  const [state] = await sql.unsafe<[{ is_needed: boolean; is_taken: boolean }]>(
    `SELECT is_needed, is_needed AND pg_try_advisory_xact_lock(${LOCK}) AS is_taken
     FROM (SELECT ${HAS_UNKNOWN_WORDS} AS is_needed) AS found`,
  );
  if (!state.is_needed) return 'done';
  if (!state.is_taken) return 'busy';
  const rows = await sql<Wordless[]>`
    SELECT event_id, json FROM events WHERE words_by < ${WORDS_VERSION} ORDER BY words_by LIMIT ${ROWS_PER_STEP}
    FOR UPDATE SKIP LOCKED`;
  if (rows.length === 0) return 'busy'; // writers hold the rest
  const sent: { event_id: string; words: string }[] = [];
  for (const { event_id, json } of rows) {
    sent.push({ event_id, words: wordsText(await tokenizer.wordsOf(textsOf(json))) });
    await nextTurn();
  }
  // Negative: the trigger on changes then knows that these words are those of the JSON.
  await sql.unsafe(
    `UPDATE events SET words = ${wordsFrom('sent.words')}, words_by = ${-WORDS_VERSION}
     FROM json_to_recordset($1::text::json) AS sent (event_id text, words text) WHERE events.event_id = sent.event_id`,
    [JSON.stringify(sent)],
  );
  return 'more';
}

function wordsUnknown(): AppError {
  const message = 'The words of the events are still being stored. Retry, or search without q.';
  return new AppError('UNAVAILABLE', message, { retryAfterSeconds: PATIENCE_MS / 1_000 });
}
