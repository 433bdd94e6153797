// Grants in the database. What may run at the same time: whoever changes several grants of an agent, or ends a key, locks the agent's row
// first; whoever takes a code or a refresh token locks its grant. So of two nodes that exchange the same code one waits for the other,
// and finds that the code was taken. A retry after a lost response finds its own tokens. A transaction updates a grant only once: with the
// second update PostgreSQL would check the foreign key, and could deadlock with a delete of the agent.
import type { AuditEntry } from '../domain/administration/audit.ts';
import type { AgentRow } from '../domain/agent.ts';
import {
  type ClientRow,
  type CodeExchange,
  decodeScopes,
  encodeScopes,
  GRANT_IDLE_MS,
  type GrantRecord,
  MAX_CLIENTS,
  MAX_GRANTS,
  MAX_TOKENS,
  type NewGrant,
  type NewTokens,
  ROTATED_MS,
  type TokenHolder,
  UNUSED_CLIENT_MS,
} from '../domain/grants.ts';
import { ROWS_PER_SLICE } from '../domain/store.ts';
import { record } from './admin.ts';
import type { Database } from './client/database.ts';
import type { Sql } from './client/driver.ts';
import type { Held } from './holder-cache.ts';
import { takeRemovalLock } from './removals.ts';

/** Removing a grant removes up to 80 tokens, too. */
const GRANTS_PER_SLICE = ROWS_PER_SLICE / 10;

/** A grant with its agent. */
interface GrantRow extends AgentRow {
  readonly grant_id: string;
  readonly client_id: string;
  readonly scopes: string;
}

const HOLDER_COLUMNS = `grant_id, client_id, grants.scopes, agent_id, email, agent_name, tier, is_active, agents.created_ms`;

/** Tables of a token, with conditions for a refresh token that works. */
const workingToken = (sql: Sql, tokenHash: string, nowMs: number) => sql`
  FROM grant_tokens JOIN grants USING (grant_id) JOIN agents USING (agent_id)
  WHERE token_hash = ${tokenHash} AND (kind = 'refresh' OR kind = 'rotated' AND grant_tokens.expires_ms > ${nowMs})
    AND grants.last_used_ms > ${nowMs - GRANT_IDLE_MS} AND is_active`;

/** Removes clients without waiting for those that another node removes. */
export async function addClient(database: Database, client: ClientRow): Promise<void> {
  const { client_id, registered_ms, client_name, redirect_uris } = client;
  await database.transaction('repeatable', async (sql) => {
    await sql`
      INSERT INTO oauth_clients (client_id, registered_ms, is_used, client_name, redirect_uris)
      VALUES (${client_id}, ${registered_ms}, false, ${client_name}, ${JSON.stringify(redirect_uris)})
      ON CONFLICT (client_id) DO NOTHING`;
    await sql`
      DELETE FROM oauth_clients WHERE client_id IN (
        SELECT client_id FROM oauth_clients WHERE NOT is_used AND registered_ms <= ${registered_ms - UNUSED_CLIENT_MS}
        LIMIT ${ROWS_PER_SLICE} FOR UPDATE SKIP LOCKED)`;
    await sql`
      DELETE FROM oauth_clients WHERE client_id IN (
        SELECT client_id FROM oauth_clients WHERE client_id <> ${client_id} ORDER BY is_used, registered_ms
        LIMIT greatest(0, (SELECT count(*) FROM oauth_clients) - ${MAX_CLIENTS}::bigint) FOR UPDATE SKIP LOCKED)`;
  });
}

export async function findClient(database: Database, clientId: string): Promise<ClientRow | undefined> {
  const [found] = await database.run(
    'repeatable',
    (sql) => sql<(Omit<ClientRow, 'redirect_uris'> & { redirect_uris: string })[]>`
      SELECT client_id, registered_ms, client_name, redirect_uris FROM oauth_clients WHERE client_id = ${clientId}`,
  );
  return found && { ...found, redirect_uris: JSON.parse(found.redirect_uris) };
}

/** Runs inside a transaction. The lock on the key keeps others from ending it meanwhile. */
export async function addGrant(sql: Sql, grant: NewGrant): Promise<boolean> {
  const { grant_id, agent_id, key_hash, client_id, client_name, client_host, created_ms } = grant;
  const { code_hash, redirect_uri, code_challenge, code_expires_ms } = grant;
  const agents = await sql`
    SELECT 1 FROM agents WHERE agent_id = ${agent_id} AND is_active FOR NO KEY UPDATE`;
  const keys = await sql`
    SELECT 1 FROM keys WHERE key_hash = ${key_hash} AND agent_id = ${agent_id}
      AND (expires_ms IS NULL OR expires_ms > ${created_ms}) FOR KEY SHARE`;
  if (agents.length === 0 || keys.length === 0) return false;
  await sql`
    UPDATE agents SET last_used_ms = greatest(last_used_ms, ${created_ms}) WHERE agent_id = ${agent_id}`;
  await sql`UPDATE oauth_clients SET is_used = true WHERE client_id = ${client_id} AND NOT is_used`;
  await sql`
    INSERT INTO grants (grant_id, agent_id, key_hash, current_key_hash, client_id, client_name, client_host, scopes, created_ms,
      last_used_ms, code_hash, redirect_uri, code_challenge, code_expires_ms)
    VALUES (${grant_id}, ${agent_id}, ${key_hash}, ${key_hash}, ${client_id}, ${client_name}, ${client_host},
      ${encodeScopes(grant.scopes)}, ${created_ms}, ${created_ms}, ${code_hash}, ${redirect_uri}, ${code_challenge}, ${code_expires_ms})
    ON CONFLICT (grant_id) DO NOTHING`;
  await sql`
    DELETE FROM grants
    WHERE agent_id = ${agent_id} AND exchanged_ms IS NULL AND code_expires_ms <= ${created_ms}`;
  await sql`
    DELETE FROM grants WHERE grant_id IN (
      SELECT grant_id FROM grants WHERE agent_id = ${agent_id} AND grant_id <> ${grant_id}
      ORDER BY last_used_ms DESC, grant_id DESC OFFSET ${MAX_GRANTS - 1})`;
  return true;
}

/** Runs inside a transaction. `ended`: the agent whose grant has ended. */
export async function exchangeCode(
  sql: Sql,
  { code_hash, client_id, redirect_uri, code_challenge }: CodeExchange,
  tokens: NewTokens,
  nowMs: number,
): Promise<{ readonly holder?: TokenHolder; readonly ended?: string }> {
  const [found] = await sql<(GrantRow & { code_expires_ms: number; exchanged_ms: number | null })[]>`
    SELECT ${sql.unsafe(HOLDER_COLUMNS)}, code_expires_ms, exchanged_ms FROM grants JOIN agents USING (agent_id)
    WHERE code_hash = ${code_hash} AND client_id = ${client_id} AND redirect_uri = coalesce(${redirect_uri ?? null}, redirect_uri)
      AND code_challenge = ${code_challenge} FOR UPDATE OF grants`;
  if (!found) return {};
  const { grant_id, agent_id, code_expires_ms, exchanged_ms, is_active } = found;
  const holder = holderOf({ ...found, scopes: tokens.scopes ? encodeScopes(tokens.scopes) : found.scopes });
  if (exchanged_ms !== null) {
    const own = await sql`SELECT 1 FROM grant_tokens WHERE token_hash = ${tokens.access_hash}`;
    if (own.length > 0) return { holder };
    await sql`DELETE FROM grants WHERE grant_id = ${grant_id}`;
    return { ended: agent_id };
  }
  if (code_expires_ms <= nowMs || !is_active) return {};
  await sql`
    UPDATE grants SET exchanged_ms = ${nowMs}, last_used_ms = greatest(last_used_ms, ${nowMs}) WHERE grant_id = ${grant_id}`;
  await addTokens(sql, grant_id, tokens, nowMs);
  return { holder };
}

export async function findRefreshToken(
  database: Database,
  tokenHash: string,
  nowMs: number,
): Promise<TokenHolder | undefined> {
  const [found] = await database.run(
    'repeatable',
    (sql) => sql<GrantRow[]>`SELECT ${sql.unsafe(HOLDER_COLUMNS)} ${workingToken(sql, tokenHash, nowMs)}`,
  );
  return found && holderOf(found);
}

/** Runs inside a transaction. Returns the agent whose grant has got tokens. */
export async function refreshGrant(
  sql: Sql,
  tokenHash: string,
  tokens: NewTokens,
  nowMs: number,
): Promise<string | undefined> {
  const [found] = await sql<{ grant_id: string; agent_id: string }[]>`
    SELECT grant_id, agent_id ${workingToken(sql, tokenHash, nowMs)} FOR UPDATE OF grants`;
  if (!found) return undefined;
  const { grant_id, agent_id } = found;
  await sql`
    UPDATE grant_tokens SET kind = 'rotated', expires_ms = ${nowMs + ROTATED_MS}
    WHERE token_hash = ${tokenHash} AND kind = 'refresh'`;
  await sql`UPDATE grants SET last_used_ms = greatest(last_used_ms, ${nowMs}) WHERE grant_id = ${grant_id}`;
  await addTokens(sql, grant_id, tokens, nowMs);
  return agent_id;
}

/** Adds the tokens, and removes those that have expired, and the oldest of each kind above its maximum. The grant is locked. */
async function addTokens(
  sql: Sql,
  grantId: string,
  { access_hash, access_expires_ms, scopes, refresh_hash }: NewTokens,
  nowMs: number,
): Promise<void> {
  const accessScopes = scopes ? encodeScopes(scopes) : null;
  await sql`
    INSERT INTO grant_tokens (token_hash, grant_id, kind, scopes, created_ms, expires_ms)
    VALUES (${access_hash}, ${grantId}, 'access', ${accessScopes}, ${nowMs}, ${access_expires_ms}),
      (${refresh_hash}, ${grantId}, 'refresh', NULL, ${nowMs}, NULL)
    ON CONFLICT (token_hash) DO NOTHING`;
  await sql`
    DELETE FROM grant_tokens WHERE token_hash IN (
      SELECT token_hash FROM (
        SELECT token_hash, kind, expires_ms, row_number() OVER (
          PARTITION BY kind
          ORDER BY token_hash IN (${access_hash}, ${refresh_hash}) DESC, coalesce(expires_ms, created_ms) DESC, token_hash
        ) AS place FROM grant_tokens WHERE grant_id = ${grantId}
      ) AS ranked
      WHERE expires_ms <= ${nowMs} OR place > CASE kind WHEN 'access' THEN ${MAX_TOKENS.access}::bigint
        WHEN 'refresh' THEN ${MAX_TOKENS.refresh}::bigint ELSE ${MAX_TOKENS.rotated}::bigint END)`;
}

/** The holder of an access token, expired or not, if its agent is active. */
export async function findAccessToken(
  database: Database,
  tokenHash: string,
): Promise<Held<TokenHolder> | undefined> {
  const [found] = await database.run(
    'repeatable',
    (sql) => sql<(GrantRow & { own_scopes: string | null; expires_ms: number })[]>`
      SELECT ${sql.unsafe(HOLDER_COLUMNS)}, grant_tokens.scopes AS own_scopes, grant_tokens.expires_ms
      FROM grant_tokens JOIN grants USING (grant_id) JOIN agents USING (agent_id)
      WHERE token_hash = ${tokenHash} AND kind = 'access' AND is_active`,
  );
  if (!found) return undefined;
  const { own_scopes, expires_ms, ...row } = found;
  const holder = holderOf({ ...row, scopes: own_scopes ?? row.scopes });
  return { holder, agent: holder.agent, expiresMs: expires_ms };
}

/**
 * Each statement of its own, so that the last ones see what the first waited for: the agent may be deleted at the same time, and be
 * restored later. Returns the agent whose grant has ended.
 */
export async function endToken(sql: Sql, tokenHash: string, clientId: string): Promise<string | undefined> {
  let agentId: string | undefined;
  for (const kept of ['', 'deleted_']) {
    const grants = sql.unsafe(`${kept}grants`);
    const tokens = sql.unsafe(`${kept}grant_tokens`);
    await sql`
      DELETE FROM ${tokens} WHERE token_hash = ${tokenHash} AND kind = 'access'
        AND grant_id IN (SELECT grant_id FROM ${grants} WHERE client_id = ${clientId})`;
    const [ended] = await sql<{ grant_id: string; agent_id: string }[]>`
      DELETE FROM ${grants} WHERE client_id = ${clientId}
        AND grant_id IN (SELECT grant_id FROM ${tokens} WHERE token_hash = ${tokenHash} AND kind <> 'access')
      RETURNING grant_id, agent_id`;
    if (ended && kept) await sql`DELETE FROM deleted_grant_tokens WHERE grant_id = ${ended.grant_id}`;
    agentId ??= ended?.agent_id;
  }
  return agentId;
}

export async function listGrants(
  database: Database,
  agentId: string,
  nowMs: number,
): Promise<readonly GrantRecord[]> {
  const rows = await database.run(
    'repeatable',
    (sql) => sql<(Omit<GrantRecord, 'scopes'> & { scopes: string })[]>`
      SELECT grant_id, client_name, client_host, scopes, created_ms, last_used_ms FROM grants
      WHERE agent_id = ${agentId} AND exchanged_ms IS NOT NULL AND last_used_ms > ${nowMs - GRANT_IDLE_MS}
      ORDER BY created_ms DESC, grant_id DESC`,
  );
  return rows.map((row) => ({ ...row, scopes: decodeScopes(row.scopes) }));
}

/** Runs inside a transaction. */
export async function endGrants(
  sql: Sql,
  agentId: string,
  grantId: string | undefined,
  audit: AuditEntry | undefined,
): Promise<boolean> {
  const [agent] = await sql<{ agent_name: string }[]>`
    SELECT agent_name FROM agents WHERE agent_id = ${agentId} FOR NO KEY UPDATE`;
  if (!agent) return false;
  const { count } =
    grantId === undefined
      ? await sql`DELETE FROM grants WHERE agent_id = ${agentId}`
      : await sql`DELETE FROM grants WHERE agent_id = ${agentId} AND grant_id = ${grantId}`;
  if (audit && count > 0) await record(sql, audit, { target_name: agent.agent_name, count });
  return count > 0;
}

export async function removeIdleGrants(database: Database, usedByMs: number): Promise<number> {
  return database.transaction('repeatable', async (sql) => {
    if (!(await takeRemovalLock(sql))) return 0;
    const { count } = await sql`
      DELETE FROM grants WHERE grant_id IN (
        SELECT grant_id FROM grants WHERE last_used_ms <= ${usedByMs} ORDER BY last_used_ms LIMIT ${GRANTS_PER_SLICE}
        FOR UPDATE SKIP LOCKED)`;
    return count;
  });
}

function holderOf({ grant_id, client_id, scopes, ...row }: GrantRow): TokenHolder {
  const { agent_id, email, agent_name, tier, is_active, created_ms } = row;
  const agent = { agent_id, email, agent_name, tier, is_active, created_ms };
  return { grant_id, agent, client_id, scopes: decodeScopes(scopes) };
}
