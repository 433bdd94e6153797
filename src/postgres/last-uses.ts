// Writes the last uses of agents and keys.
import type { LastUses } from '../memory/last-uses.ts';
import type { Statements } from './client/database.ts';

type Write = ConstructorParameters<typeof LastUses<Statements>>[0];

/** Rows that no longer exist count as written. */
export function writerOf(database: Statements, table: 'agents' | 'keys'): Write {
  const statement = statementFor(table);
  return async (used, statements = database) => {
    const rows = JSON.stringify([...used].map(([id, used_ms]) => ({ id, used_ms })));
    const found = await statements.run('repeatable write', (sql) =>
      sql.unsafe<{ id: string; is_done: boolean }[]>(statement, [rows], { prepare: true }),
    );
    return new Set(found.filter(({ is_done }) => !is_done).map(({ id }) => id));
  };
}

/** Rows locked by another transaction are skipped until the next time: waiting for one would delay all others. */
function statementFor(table: 'agents' | 'keys'): string {
  const [id, type] = table === 'agents' ? ['agent_id', 'uuid'] : ['key_hash', 'text COLLATE "C"'];
  return `WITH sent AS (
      SELECT ${id}, used_ms FROM json_to_recordset($1::text::json) AS sent (id ${type}, used_ms bigint) JOIN ${table} ON ${id} = id
    ),
    free AS (
      SELECT ${id}, used_ms FROM ${table} JOIN sent USING (${id}) ORDER BY ${id} FOR NO KEY UPDATE OF ${table} SKIP LOCKED
    ),
    done AS (
      UPDATE ${table} SET last_used_ms = greatest(${table}.last_used_ms, used_ms) FROM free
      WHERE ${table}.${id} = free.${id} RETURNING ${table}.${id}
    )
    SELECT ${id} AS id, ${id} IN (SELECT ${id} FROM done) AS is_done FROM sent`;
}
