// Loads the benchmark's data folder into a separate database with the schema of the PostgreSQL engine.
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import postgres from 'postgres';
import { readConfig } from '../src/config.ts';
import { textsOf, WORDS_VERSION, type Words, wordsOf } from '../src/domain/events/words.ts';
import { TABLES } from '../src/domain/transfer.ts';
import { openDatabase } from '../src/postgres/open.ts';
import { wordsText } from '../src/postgres/words.ts';
import { databasePath } from '../src/sqlite/files/data-folder.ts';
import type { Cluster } from '../test/support/postgres-cluster.ts';
import { toCopyField } from './postgres.ts';

/** Indexes to create after the rows, because that is faster than updating them with each row. */
const INDEXES = `SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'events' AND indexname <> 'events_pkey'`;

/** Returns the URL of the database. */
export async function loadEngine(cluster: Cluster, dataFolder: string): Promise<string> {
  const administrator = postgres(cluster.url(), { max: 1 });
  await administrator`CREATE DATABASE engine`;
  await administrator.end();
  const url = cluster.url('engine');
  const database = await openDatabase(readConfig({ DATABASE_URL: url }).database!);
  await database.close();
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  const indexes = await sql.unsafe<{ indexname: string; indexdef: string }[]>(INDEXES);
  for (const { indexname } of indexes) await sql.unsafe(`DROP INDEX ${indexname}`);
  for (const table of ['agents', 'keys', 'events'] as const) {
    const columns = Object.keys(TABLES[table]).join(', ');
    const added = table === 'events' ? ', words, words_by' : '';
    const copy = await sql.unsafe(`COPY ${table} (${columns}${added}) FROM STDIN`).writable();
    await pipeline(Readable.from(copyRows(dataFolder, table, columns)), copy);
  }
  for (const { indexdef } of indexes) await sql.unsafe(indexdef);
  await sql.unsafe('TRUNCATE event_changes'); // as it is some minutes later
  await sql.unsafe('VACUUM ANALYZE');
  await sql.end();
  return url;
}

function* copyRows(dataFolder: string, table: string, columns: string): Generator<string> {
  const database = new DatabaseSync(databasePath(dataFolder), { readOnly: true });
  const select = database.prepare(`SELECT ${columns} FROM ${table}`);
  let lines = '';
  for (const row of select.iterate()) {
    const values: unknown[] = Object.values(row);
    // Without words, a node would add them during the measurement, as after an upgrade.
    if (table === 'events') values.push(toTsvector(wordsOf(textsOf(row.json as string))), WORDS_VERSION);
    lines += `${values.map(toCopyField).join('\t')}\n`;
    if (lines.length > 1_000_000) {
      yield lines;
      lines = '';
    }
  }
  yield lines;
  database.close();
}

/** Words have letters, digits and marks only, so quoting them needs no escapes. */
function toTsvector(words: Words): string {
  return wordsText(words)
    .split(' ')
    .map((word) => `'${word}'`)
    .join(' ');
}
