// Grants for tests of the stores, no two alike.
import assert from 'node:assert/strict';
import type { AgentRow } from '../../src/domain/agent.ts';
import { hashSecret, type KeyFingerprint } from '../../src/domain/api-key.ts';
import {
  ACCESS_TOKEN_MS,
  type ClientRow,
  CODE_MS,
  type CodeExchange,
  type NewGrant,
  type NewTokens,
  type TokenHolder,
} from '../../src/domain/grants.ts';
import type { Store } from '../../src/domain/store.ts';
import { NOW_MS, newUuid } from './rows.ts';

let made = 0;

export function newHash(): string {
  return hashSecret(`token ${++made}`);
}

export function newClient(fields: Partial<ClientRow> = {}): ClientRow {
  return {
    client_id: `client ${++made}`,
    registered_ms: NOW_MS,
    client_name: `Client ${made}`,
    redirect_uris: ['http://127.0.0.1/callback'],
    ...fields,
  };
}

export function newGrantOf(
  { agent_id }: Pick<AgentRow, 'agent_id'>,
  { hash }: KeyFingerprint,
  fields: Partial<NewGrant> = {},
): NewGrant {
  const created_ms = fields.created_ms ?? NOW_MS;
  return {
    grant_id: newUuid(),
    agent_id,
    key_hash: hash,
    client_id: `client ${++made}`,
    client_name: `Client ${made}`,
    client_host: 'client.example',
    scopes: ['read', 'publish'],
    created_ms,
    redirect_uri: 'https://client.example/callback',
    code_hash: newHash(),
    code_challenge: newHash(),
    code_expires_ms: created_ms + CODE_MS,
    ...fields,
  };
}

export function newTokens(nowMs = NOW_MS, fields: Partial<NewTokens> = {}): NewTokens {
  return {
    access_hash: newHash(),
    access_expires_ms: nowMs + ACCESS_TOKEN_MS,
    scopes: undefined,
    refresh_hash: newHash(),
    ...fields,
  };
}

export function exchangeOf(grant: NewGrant): CodeExchange {
  const { code_hash, client_id, redirect_uri, code_challenge } = grant;
  return { code_hash, client_id, redirect_uri, code_challenge };
}

export function holderOf(grant: NewGrant, agent: AgentRow): TokenHolder {
  return { grant_id: grant.grant_id, agent, client_id: grant.client_id, scopes: grant.scopes };
}

/** Adds a grant, and exchanges its code for tokens. */
export async function addGrant(
  store: Store,
  agent: AgentRow,
  key: KeyFingerprint,
  fields: Partial<NewGrant> = {},
): Promise<{ grant: NewGrant; tokens: NewTokens }> {
  const grant = newGrantOf(agent, key, fields);
  assert.equal(await store.addGrant(grant), true);
  const tokens = newTokens(grant.created_ms);
  const holder = await store.exchangeCode(exchangeOf(grant), tokens, grant.created_ms);
  assert.deepEqual(holder, holderOf(grant, agent));
  return { grant, tokens };
}
