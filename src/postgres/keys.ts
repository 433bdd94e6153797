// API keys in the database: finding a key and its agent, and key rotation.

import type { AgentDetails, KeyDetails } from '../domain/administration/agent-details.ts';
import type { AgentRecord, AgentRow } from '../domain/agent.ts';
import type { KeyFingerprint } from '../domain/api-key.ts';
import type { LastUses } from '../memory/last-uses.ts';
import type { Database, Statements } from './client/database.ts';
import type { Sql } from './client/driver.ts';
import type { Held } from './holder-cache.ts';
import { forgetKey } from './kept-access.ts';
import { AGENT_COLUMNS } from './list-statements.ts';

/** The active agent that holds the key, expired or not. */
export async function findHolder(database: Database, keyHash: string): Promise<Held<AgentRow> | undefined> {
  const [row] = await database.run(
    'repeatable',
    (sql) => sql<(AgentRow & { expires_ms: number | null })[]>`
      SELECT agent_id, email, agent_name, tier, is_active, agents.created_ms, expires_ms
      FROM keys JOIN agents USING (agent_id) WHERE key_hash = ${keyHash} AND is_active`,
  );
  if (!row) return undefined;
  const { expires_ms, ...agent } = row;
  return { holder: agent, agent, expiresMs: expires_ms };
}

/** Runs inside a transaction. Locks the agent before the key, as a rotation does. Returns the agent. */
export async function revokeKey(sql: Sql, keyHash: string): Promise<string | undefined> {
  const [agent] = await sql<{ agent_id: string }[]>`
    SELECT agent_id FROM agents WHERE agent_id = (SELECT agent_id FROM keys WHERE key_hash = ${keyHash}) FOR NO KEY UPDATE`;
  const { count } = await sql`DELETE FROM keys WHERE key_hash = ${keyHash}`;
  if (agent && count > 0) await endGrantsOfKey(sql, agent.agent_id, keyHash);
  // Its agent may just have been deleted, and be restored later. Statements of their own, so that they see what the first one waited for.
  await forgetKey(sql, keyHash);
  return agent?.agent_id;
}

/** Ends the agent's grants that were made with the key, or belong to it since a rotation. The agent is locked. */
export async function endGrantsOfKey(sql: Sql, agentId: string, keyHash: string): Promise<void> {
  await sql`
    DELETE FROM grants WHERE agent_id = ${agentId} AND (key_hash = ${keyHash} OR current_key_hash = ${keyHash})`;
}

/** An agent and its keys, from one snapshot. `uses` and `keyUses` have what is not written yet. */
export async function findAgentDetails(
  database: Database,
  agentId: string,
  nowMs: number,
  uses: LastUses<Statements>,
  keyUses: LastUses<Statements>,
): Promise<AgentDetails | undefined> {
  const [row] = await database.run(
    'repeatable',
    (sql) => sql<(AgentRecord & { event_bytes: number; keys: KeyDetails[] })[]>`
      SELECT ${sql.unsafe(AGENT_COLUMNS)}, event_bytes, (
        SELECT coalesce(json_agg(to_json(found) ORDER BY created_ms, key_hash), '[]') FROM (
          SELECT key_hash, prefix, created_ms, expires_ms, last_used_ms FROM keys
          WHERE keys.agent_id = agents.agent_id AND (expires_ms IS NULL OR expires_ms > ${nowMs})
        ) AS found
      ) AS keys FROM agents WHERE agent_id = ${agentId}`,
  );
  if (!row) return undefined;
  const { event_bytes, keys, ...agent } = row;
  return {
    agent: uses.apply(agent),
    eventBytes: event_bytes,
    keys: keys.map((key) => ({ ...key, last_used_ms: keyUses.latest(key.key_hash, key.last_used_ms) })),
    // Nodes whose memory is too small for words find them with SQL.
    words: undefined,
  };
}

/**
 * Runs inside a transaction. Locks the agent's row before it reads the keys, so that rotations of one agent run one after
 * the other. A retry after a lost response finds the new key, and so knows that the rotation is done.
 */
export async function rotateKey(
  sql: Sql,
  agentId: string,
  callingKeyHash: string,
  newKey: KeyFingerprint,
  nowMs: number,
  callingExpiresMs: number,
  endGrants = false,
): Promise<boolean> {
  const agents = await sql`
    SELECT 1 FROM agents WHERE agent_id = ${agentId} AND is_active FOR NO KEY UPDATE`;
  if (agents.length === 0) return false;
  const keys = await sql<{ key_hash: string; expires_ms: number | null }[]>`
    SELECT key_hash, expires_ms FROM keys WHERE agent_id = ${agentId}`;
  if (keys.some(({ key_hash }) => key_hash === newKey.hash)) return true;
  const calling = keys.find(({ key_hash }) => key_hash === callingKeyHash);
  if (!calling || (calling.expires_ms !== null && calling.expires_ms <= nowMs)) return false;
  const endsMs = Math.min(calling.expires_ms ?? callingExpiresMs, callingExpiresMs);
  await sql`DELETE FROM keys WHERE agent_id = ${agentId} AND key_hash <> ${callingKeyHash}`;
  if (endsMs > nowMs) await sql`UPDATE keys SET expires_ms = ${endsMs} WHERE key_hash = ${callingKeyHash}`;
  else await sql`DELETE FROM keys WHERE key_hash = ${callingKeyHash}`;
  await sql`
    INSERT INTO keys (key_hash, agent_id, prefix, created_ms)
    VALUES (${newKey.hash}, ${agentId}, ${newKey.prefix}, ${nowMs})`;
  if (endGrants) await sql`DELETE FROM grants WHERE agent_id = ${agentId}`;
  else await sql`UPDATE grants SET current_key_hash = ${newKey.hash} WHERE agent_id = ${agentId}`;
  return true;
}
