// What a person decides about a valid request: for which agent, and how much. Nothing is stored before the first decision. The page carries
// its state sealed, for ten minutes; a cookie, also sealed, remembers the agent for the next time.
import type { Static } from 'typebox';
import type { AgentRow, RegisterRequest } from '../domain/agent.ts';
import { hashSecret, newApiKey } from '../domain/api-key.ts';
import { DAY_MS } from '../domain/clock-and-random.ts';
import { CODE_MS, type Scope } from '../domain/grants.ts';
import { newSecret, newUuid } from '../domain/ids.ts';
import {
  authenticateAgent,
  requireFewFailures,
  requireQuota,
  spendFailedRegistration,
  spendRegistration,
  spendRequest,
} from '../usecases/access.ts';
import type { Context } from '../usecases/context.ts';
import { register } from '../usecases/own-agent.ts';
import { type AuthorizationRequest, returnUrl } from './authorization.ts';
import { OAuthError } from './oauth-error.ts';
import { destinationOf } from './redirect-uri.ts';

const PAGE_MS = 600_000;
const REMEMBERED_MS = 400 * DAY_MS;

/** How often a second click looks for the agent that the first one registers, and the time between. */
const LOOKS = { max: 20, pauseMs: 100 } as const;

/** An agent and the key with which a person showed that it is theirs. */
export interface OwnedAgent {
  readonly agent: AgentRow;
  readonly keyHash: string;
}

/** State of a page. */
export interface Asked {
  readonly request: AuthorizationRequest;
  /** Registers one agent only, however often the form is sent. */
  readonly formId: string;
  /** After a registration: the decision, which only needs to be confirmed. */
  readonly decided?: { readonly keyHash: string; readonly scopes: readonly Scope[] };
}

export function newAsked({ random }: Context, request: AuthorizationRequest): Asked {
  return { request, formId: newSecret(random) };
}

export function sealAsked({ oauth, clock }: Context, asked: Asked): Promise<string> {
  return oauth!.pages.seal({ ...asked }, clock() + PAGE_MS);
}

/** Throws OAuthError if the page is too old, or was not made here. */
export async function openAsked({ oauth }: Context, sealed: string): Promise<Asked> {
  const asked = await oauth!.pages.open(sealed);
  if (asked) return asked as unknown as Asked;
  throw new OAuthError(
    'invalid_request',
    'This page is older than ten minutes. Go back to your app, and connect again.',
  );
}

/** How much the person allows: at most what the client requested. `publish` includes `read`. */
export function allowedScopes(
  { scopes }: AuthorizationRequest,
  choice: 'read' | 'publish',
): readonly Scope[] {
  return choice === 'read' ? ['read'] : scopes;
}

/** The agent of a key that a person typed. Throws INVALID_API_KEY, and RATE_LIMITED after many wrong keys. */
export async function findOwnedAgent(context: Context, network: string, key: string): Promise<OwnedAgent> {
  requireFewFailures(await spendFailedRegistration(context, network, 0));
  try {
    return await authenticateAgent(context, key);
  } catch (error) {
    await spendFailedRegistration(context, network, 1);
    throw error;
  }
}

/** The agent that the cookie remembers, unless its key has ended. */
export async function findRemembered(
  { oauth, store, clock }: Context,
  sealed: string | undefined,
): Promise<OwnedAgent | undefined> {
  const remembered = sealed === undefined ? undefined : await oauth!.remembered.open(sealed);
  if (!remembered) return undefined;
  const { agentId, keyHash } = remembered as { agentId: string; keyHash: string };
  const agent = await store.findAgentByKey(keyHash, clock());
  return agent?.agent_id === agentId ? { agent, keyHash } : undefined;
}

/** Value of the cookie, and how long it lasts. */
export async function remember(
  { oauth, clock }: Context,
  { agent, keyHash }: OwnedAgent,
): Promise<{ readonly sealed: string; readonly maxAgeMs: number }> {
  const sealed = await oauth!.remembered.seal({ agentId: agent.agent_id, keyHash }, clock() + REMEMBERED_MS);
  return { sealed, maxAgeMs: REMEMBERED_MS };
}

/**
 * Registers an agent for this page. `apiKey` is undefined if an earlier request for the page has registered it: nobody sees the key again.
 * Undefined if that earlier request failed. Throws RATE_LIMITED.
 */
export async function registerOnce(
  context: Context,
  network: string,
  { formId }: Asked,
  fields: Static<typeof RegisterRequest>,
): Promise<(OwnedAgent & { readonly apiKey: string | undefined }) | undefined> {
  const { store, clock, random } = context;
  requireQuota(await spendRegistration(context, network, 0), 'quota registrations');
  const apiKey = newApiKey(random);
  const ownHash = hashSecret(apiKey);
  const nowMs = clock();
  const expiry = { atMs: nowMs + PAGE_MS, nowMs };
  const keyHash = await store.getSetting(`consent ${formId}`, async () => ownHash, expiry);
  if (keyHash === ownHash) await register(context, network, fields, apiKey);
  for (let looks = 1; ; looks++) {
    const agent = await store.findAgentByKey(keyHash, clock());
    if (agent) return { agent, keyHash, apiKey: keyHash === ownHash ? apiKey : undefined };
    if (looks === LOOKS.max) return undefined;
    await new Promise((resolve) => setTimeout(resolve, LOOKS.pauseMs));
  }
}

/**
 * Stores the grant, which counts as a request of the agent. Returns the URL that brings the code to the client. Throws RATE_LIMITED, and
 * OAuthError if the key has ended meanwhile.
 */
export async function giveConsent(
  context: Context,
  base: string,
  request: AuthorizationRequest,
  { agent, keyHash }: OwnedAgent,
  scopes: readonly Scope[],
): Promise<string> {
  const { store, clock, random } = context;
  requireQuota(await spendRequest(context, agent));
  const nowMs = clock();
  const code = `lec_${newSecret(random)}`;
  const destination = destinationOf(request.redirectUri);
  const host = destination.kind === 'site' ? destination.host : null;
  const isAdded = await store.addGrant({
    grant_id: newUuid(nowMs, random),
    agent_id: agent.agent_id,
    key_hash: keyHash,
    client_id: request.clientId,
    client_name: request.clientName ?? request.clientHost ?? host ?? '',
    client_host: host,
    scopes,
    created_ms: nowMs,
    redirect_uri: request.redirectUri,
    code_hash: hashSecret(code),
    code_challenge: request.codeChallenge,
    code_expires_ms: nowMs + CODE_MS,
  });
  if (isAdded) return returnUrl(base, request, { code });
  throw new OAuthError('access_denied', 'The key of this agent has ended meanwhile. Use its current key.');
}
