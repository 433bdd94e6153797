// Data folders for tests of the files: made without a service, and as large as a test needs them.
import { join } from 'node:path';
import type { CopyControl } from '../../src/domain/store.ts';
import { backUp } from '../../src/sqlite/files/backup.ts';
import { SqliteBulkWriter } from '../../src/sqlite/files/bulk.ts';
import { databasePath } from '../../src/sqlite/files/data-folder.ts';
import { newAgentRow, newEventRow, newKey } from '../store/rows.ts';
import { temporaryFolder } from '../support/service.ts';
import { execute } from './files.ts';

/** A folder with an agent, so many events of its own, and a database of about so many megabytes. */
export async function makeData({ events = 3, megabytes = 0 } = {}): Promise<string> {
  const folder = join(temporaryFolder(), 'data');
  const archive = await SqliteBulkWriter.open(folder);
  const agent = newAgentRow();
  await archive.addAgent(agent, newKey());
  await archive.createEvents(
    Array.from({ length: events }, () => newEventRow(agent)),
    0,
  );
  await archive.close();
  if (megabytes > 0) {
    execute(
      databasePath(folder),
      `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${megabytes * 250})
       INSERT INTO settings SELECT 'filler ' || n, hex(zeroblob(2000)) FROM numbers`,
    );
  }
  return folder;
}

/** Nobody looks how far a copy is, or stops it. */
export const UNWATCHED: CopyControl = { signal: new AbortController().signal, onProgress: () => {} };

/** A backup of such a folder, in a folder of its own. */
export async function makeBackup(size: Parameters<typeof makeData>[0] = {}): Promise<string> {
  const file = join(temporaryFolder(), 'copy.db');
  await backUp(await makeData(size), file, UNWATCHED);
  return file;
}
