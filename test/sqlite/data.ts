// Data folders for tests of the files: written without a service, as large as a test needs them.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CopyControl } from '../../src/domain/store.ts';
import { openForWriting } from '../../src/sqlite/connection.ts';
import { backUp } from '../../src/sqlite/files/backup.ts';
import { SqliteBulkWriter } from '../../src/sqlite/files/bulk.ts';
import { databasePath } from '../../src/sqlite/files/data-folder.ts';
import { newAgentRow, newEventRow, newKey } from '../store/rows.ts';
import { temporaryFolder } from '../support/service.ts';
import { execute } from './files.ts';

/** A folder with one agent, its events, and a database of about the given size. */
export async function makeData({ events = 3, megabytes = 0 } = {}): Promise<string> {
  const folder = join(temporaryFolder(), 'data');
  const writer = await SqliteBulkWriter.open(folder);
  const agent = newAgentRow();
  await writer.addAgent(agent, newKey());
  await writer.createEvents(
    Array.from({ length: events }, () => newEventRow(agent)),
    0,
  );
  await writer.close();
  if (megabytes > 0) {
    execute(
      databasePath(folder),
      `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${megabytes * 250})
       INSERT INTO settings (name, value) SELECT 'filler ' || n, hex(zeroblob(2000)) FROM numbers`,
    );
  }
  return folder;
}

/** A folder with so many events, of one agent, that loading them takes a while. */
export function makeManyEvents(events = 100_000): string {
  const folder = join(temporaryFolder(), 'data');
  mkdirSync(folder);
  const database = openForWriting(databasePath(folder), 'bulk');
  database.exec(`
    BEGIN;
    INSERT INTO agents (agent_id, email, agent_name, tier, is_active, created_ms)
      VALUES ('a', 'a@example.com', 'a', 'readwrite', 1, 0);
    WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < ${events})
    INSERT INTO events (event_id, agent_id, version, title, start_ms, lat, lng, audience, event_type, timezone, status, updated_ms, json)
      SELECT printf('01J%023d', n), 'a', 1, n, 4000000000000 + n, n % 180 - 90, n % 360 - 180, 'all', 'talk', 'UTC', 'scheduled', 0, '{}'
      FROM numbers;
    COMMIT;
  `);
  database.close();
  return folder;
}

/** Ignores the progress of a copy and never stops it. */
export const UNWATCHED: CopyControl = { signal: new AbortController().signal, onProgress: () => {} };

/** A backup of such a folder, in a separate folder. */
export async function makeBackup(size: Parameters<typeof makeData>[0] = {}): Promise<string> {
  const file = join(temporaryFolder(), 'copy.db');
  await backUp(await makeData(size), file, UNWATCHED);
  return file;
}
