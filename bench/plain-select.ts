// Lower bound for any start from the file: a plain SELECT of the index's columns. Runs as a separate process.
import { DatabaseSync } from 'node:sqlite';
import { databasePath } from '../src/sqlite/files/data-folder.ts';

const { dataFolder } = JSON.parse(process.argv[2]!) as { dataFolder: string };
const database = new DatabaseSync(databasePath(dataFolder), { readOnly: true });
const select = database.prepare(
  'SELECT event_id, version, start_ms, end_ms, lat, lng, event_type, audience FROM events',
);
let rows = 0;
for (const _ of select.iterate()) rows++;
console.log(JSON.stringify({ rows }));
