// Keys and grants of deleted agents, which are kept for an undo. Rows are moved, not copied: what somebody ends at the same time must not
// come back. Each pair of tables has the same columns, except that kept keys have no agent.
import { GRANT_COLUMN_LIST, GRANT_TOKEN_COLUMN_LIST } from '../domain/transfer.ts';
import type { Sql } from './client/driver.ts';

const KEY_COLUMNS = 'key_hash, prefix, created_ms, expires_ms, last_used_ms';

/** An entry of the audit log, and the agent whose delete it records. */
export interface DeletedAgent {
  readonly audit_id: number;
  readonly agent_id: string;
}

/** Moves keys and grants of these agents, whose rows are locked. */
export async function keepAccess(sql: Sql, deleted: readonly DeletedAgent[]): Promise<void> {
  const entries = sql`json_to_recordset(${JSON.stringify(deleted)}::text::json) AS entries (audit_id bigint, agent_id uuid)`;
  const move = (table: string, columns: string, which: ReturnType<Sql>) => sql`
    WITH gone AS (DELETE FROM ${sql.unsafe(table)} AS moved USING ${which} RETURNING moved.*, audit_id)
    INSERT INTO ${sql.unsafe(`deleted_${table}`)} (audit_id, ${sql.unsafe(columns)})
    SELECT audit_id, ${sql.unsafe(columns)} FROM gone`;
  await move('keys', KEY_COLUMNS, sql`${entries} WHERE moved.agent_id = entries.agent_id`);
  // Whoever adds tokens locks their grant.
  await sql`SELECT 1 FROM grants WHERE agent_id IN (SELECT agent_id FROM ${entries}) FOR UPDATE`;
  await move(
    'grant_tokens',
    GRANT_TOKEN_COLUMN_LIST,
    sql`grants, ${entries} WHERE moved.grant_id = grants.grant_id AND grants.agent_id = entries.agent_id`,
  );
  await move('grants', GRANT_COLUMN_LIST, sql`${entries} WHERE moved.agent_id = entries.agent_id`);
}

/** Brings back what is kept for the entry, for its agent. */
export async function restoreAccess(sql: Sql, { audit_id, agent_id }: DeletedAgent): Promise<void> {
  await sql`
    WITH gone AS (DELETE FROM deleted_keys WHERE audit_id = ${audit_id} RETURNING *)
    INSERT INTO keys (agent_id, ${sql.unsafe(KEY_COLUMNS)})
    SELECT ${agent_id}::uuid, ${sql.unsafe(KEY_COLUMNS)} FROM gone`;
  for (const [table, columns] of [
    ['grants', GRANT_COLUMN_LIST],
    ['grant_tokens', GRANT_TOKEN_COLUMN_LIST],
  ] as const)
    await sql`
      WITH gone AS (DELETE FROM ${sql.unsafe(`deleted_${table}`)} WHERE audit_id = ${audit_id} RETURNING *)
      INSERT INTO ${sql.unsafe(table)} (${sql.unsafe(columns)}) SELECT ${sql.unsafe(columns)} FROM gone`;
}

/** Removes what is kept for the entry. */
export async function forgetAccess(sql: Sql, auditId: number): Promise<void> {
  for (const table of ['deleted_keys', 'deleted_grants', 'deleted_grant_tokens'])
    await sql`DELETE FROM ${sql.unsafe(table)} WHERE audit_id = ${auditId}`;
}

/** Removes a key that is kept, with its grants. */
export async function forgetKey(sql: Sql, keyHash: string): Promise<void> {
  const [kept] = await sql<{ audit_id: number }[]>`
    DELETE FROM deleted_keys WHERE key_hash = ${keyHash} RETURNING audit_id`;
  if (!kept) return;
  await sql`
    WITH gone AS (
      DELETE FROM deleted_grants
      WHERE audit_id = ${kept.audit_id} AND (key_hash = ${keyHash} OR current_key_hash = ${keyHash}) RETURNING grant_id
    )
    DELETE FROM deleted_grant_tokens WHERE grant_id IN (SELECT grant_id FROM gone)`;
}
