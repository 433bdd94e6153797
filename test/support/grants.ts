// Grants of a running service: rows that a test adds to the data folder behind its back.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { GRANT_COLUMN_LIST } from '../../src/domain/transfer.ts';

/** Fields of a grant that tests choose. */
interface GrantFields {
  readonly client_name?: string;
  readonly client_host?: string | null;
  readonly scopes?: string;
  readonly created_ms?: number;
  readonly last_used_ms?: number;
}

/** Adds a grant of the agent, without tokens. Returns its ID. */
export function insertGrant(folder: string, agentId: string, fields: GrantFields = {}): string {
  const grantId = randomUUID();
  const { created_ms = Date.now(), last_used_ms = created_ms } = fields;
  const { client_name = 'Claude', client_host = 'claude.ai', scopes = 'read publish' } = fields;
  const client = ['client', client_name, client_host, scopes] as const;
  const database = new DatabaseSync(join(folder, 'local-events.db'), { timeout: 5_000 });
  try {
    database
      .prepare(`INSERT INTO grants (${GRANT_COLUMN_LIST}) VALUES (${Array(15).fill('?').join(', ')})`)
      .run(
        ...[grantId, agentId, 'key', 'key', ...client, created_ms, last_used_ms],
        ...[`code of ${grantId}`, 'https://client.example/', 'challenge', created_ms, created_ms],
      );
  } finally {
    database.close();
  }
  return grantId;
}
