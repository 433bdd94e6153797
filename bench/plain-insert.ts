// Lower bound for any import: inserts the same rows into a new database with the importer's settings, in one transaction,
// without checks. Rows are parsed and prepared before the clock starts. Runs as a separate process.
import { createReadStream, mkdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { readEventCreate } from '../src/domain/events/event-input.ts';
import { newUlid } from '../src/domain/ids.ts';
import {
  type ColumnValues,
  columnValues,
  EVENT_COLUMN_LIST,
  EVENT_PLACEHOLDERS,
} from '../src/sqlite/columns.ts';
import { openForWriting } from '../src/sqlite/connection.ts';
import { databasePath } from '../src/sqlite/files/data-folder.ts';
import { systemClock, systemRandom } from '../src/system.ts';

export interface InsertInput {
  readonly file: string;
  readonly dataFolder: string;
}

export interface InsertOutput {
  readonly rows: number;
  readonly seconds: number;
}

const { file, dataFolder } = JSON.parse(process.argv[2]!) as InsertInput;
const agent_id = 'importer';
const rows: ColumnValues[] = [];
for await (const line of createInterface({ input: createReadStream(file) })) {
  const created_ms = systemClock();
  const event_id = newUlid(created_ms, systemRandom);
  const fields = readEventCreate(JSON.parse(line), created_ms);
  rows.push(columnValues({ event_id, agent_id, version: 1, created_ms, updated_ms: created_ms, ...fields }));
}

mkdirSync(dataFolder);
const database = openForWriting(databasePath(dataFolder), 'bulk');
database
  .prepare(
    `INSERT INTO agents (agent_id, email, agent_name, tier, is_active, created_ms)
     VALUES (?, 'import@example.com', 'Importer', 'readwrite', 1, 0)`,
  )
  .run(agent_id);
const insert = database.prepare(`INSERT INTO events (${EVENT_COLUMN_LIST}) VALUES (${EVENT_PLACEHOLDERS})`);
const startedMs = performance.now();
database.exec('BEGIN');
for (const row of rows) insert.run(...row);
database.exec('COMMIT');
const seconds = (performance.now() - startedMs) / 1000;
database.close();
console.log(JSON.stringify({ rows: rows.length, seconds } satisfies InsertOutput));
