// Exchange of codes and refresh tokens for new tokens, and revocation. Tokens are random; the store keeps hashes and takes codes and
// refresh tokens atomically. What a code stands for is in consent.ts.

import { hash } from 'node:crypto';
import { hashSecret } from '../domain/api-key.ts';
import { ACCESS_TOKEN_MS, type NewTokens, type Scope, type TokenHolder } from '../domain/grants.ts';
import { newSecret } from '../domain/ids.ts';
import { requireQuota, spendRequest } from '../usecases/access.ts';
import type { Context } from '../usecases/context.ts';
import { readScopes, requireOurResource } from './authorization.ts';
import { isDocumentUrl, unknownClient } from './clients.ts';
import { OAuthError } from './oauth-error.ts';

/** Parameters of a form, none of which is repeated. */
export type Parameters = ReadonlyMap<string, string>;

/** Throws OAuthError or RATE_LIMITED. */
export async function issueTokens(context: Context, base: string, parameters: Parameters): Promise<object> {
  const grantType = required(parameters, 'grant_type');
  const clientId = required(parameters, 'client_id');
  requireOurResource(base, parameters);
  if (grantType === 'authorization_code') return exchangeCode(context, clientId, parameters);
  if (grantType === 'refresh_token') return refresh(context, clientId, parameters);
  throw new OAuthError('unsupported_grant_type', 'grant_type must be authorization_code or refresh_token.');
}

async function exchangeCode(context: Context, clientId: string, parameters: Parameters): Promise<object> {
  const exchange = {
    code_hash: hashSecret(required(parameters, 'code')),
    client_id: clientId,
    redirect_uri: parameters.get('redirect_uri'),
    code_challenge: hash('sha256', readVerifier(parameters), 'base64url'),
  };
  const tokens = newTokens(context, undefined);
  const holder = await context.store.exchangeCode(exchange, tokens.hashes, context.clock());
  if (holder) return tokens.describe(holder.scopes);
  await requireClient(context, clientId);
  throw new OAuthError(
    'invalid_grant',
    'The code is unknown, used, older than 60 seconds, or was issued for another client, redirect URI or verifier. Sign in again.',
  );
}

function readVerifier(parameters: Parameters): string {
  const verifier = required(parameters, 'code_verifier');
  if (/^[A-Za-z0-9._~-]{43,128}$/.test(verifier)) return verifier;
  throw new OAuthError(
    'invalid_request',
    'code_verifier must have 43 to 128 characters, each a letter, a digit or one of -._~.',
  );
}

async function refresh(context: Context, clientId: string, parameters: Parameters): Promise<object> {
  const { store, clock } = context;
  const tokenHash = hashSecret(required(parameters, 'refresh_token'));
  const holder = await store.findRefreshToken(tokenHash, clock());
  if (holder?.client_id !== clientId) {
    await requireClient(context, clientId);
    throw refreshEnded();
  }
  const scopes = narrow(holder, readScopes(parameters.get('scope')));
  requireQuota(await spendRequest(context, holder.agent));
  const tokens = newTokens(context, scopes);
  if (!(await store.refreshGrant(tokenHash, tokens.hashes, clock()))) throw refreshEnded();
  store.noteUse(holder.agent.agent_id, clock());
  return tokens.describe(scopes);
}

function refreshEnded(): OAuthError {
  return new OAuthError(
    'invalid_grant',
    'The refresh token has ended, or is not of this client. Sign in again.',
  );
}

/** The scopes of a refreshed access token: those of the grant or, if the client asks for fewer, these. Throws invalid_scope. */
function narrow({ scopes }: TokenHolder, requested: readonly Scope[] | undefined): readonly Scope[] {
  if (!requested) return scopes;
  const isGranted = (scope: Scope) =>
    scopes.includes(scope) || (scope === 'read' && scopes.includes('publish'));
  if (requested.every(isGranted)) return requested;
  throw new OAuthError('invalid_scope', `Only ${scopes.join(' and ')} was granted. Sign in again for more.`);
}

/** Ends the token. Unknown ones are ended already. Throws OAuthError. */
export async function revokeToken({ store }: Context, parameters: Parameters): Promise<void> {
  await store.endToken(hashSecret(required(parameters, 'token')), required(parameters, 'client_id'));
}

/** Throws invalid_client if the client is not registered any more: then a new sign-in needs a registration first. */
async function requireClient({ store }: Context, clientId: string): Promise<void> {
  if (isDocumentUrl(clientId) || (await store.findClient(clientId))) return;
  throw unknownClient();
}

function required(parameters: Parameters, name: string): string {
  const value = parameters.get(name);
  if (value) return value;
  throw new OAuthError('invalid_request', `The parameter ${name} is missing.`);
}

/** A new pair of tokens. `scopes` undefined: those of the grant. The prefixes let secret scanners recognise them. */
function newTokens({ clock, random }: Context, scopes: readonly Scope[] | undefined) {
  const access_token = `lea_${newSecret(random)}`;
  const refresh_token = `ler_${newSecret(random)}`;
  const hashes: NewTokens = {
    access_hash: hashSecret(access_token),
    access_expires_ms: clock() + ACCESS_TOKEN_MS,
    scopes,
    refresh_hash: hashSecret(refresh_token),
  };
  const describe = (granted: readonly Scope[]) => ({
    access_token,
    token_type: 'Bearer',
    expires_in: ACCESS_TOKEN_MS / 1000,
    refresh_token,
    scope: granted.join(' '),
  });
  return { hashes, describe };
}
