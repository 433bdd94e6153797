// The request that a client sends a person's browser with (RFC 6749, 4.1.1, with PKCE, RFC 8707 and RFC 9207). Until client and redirect
// URI are known to belong together, errors are for the person; after that, they are redirects to the client.
import { SCOPES, type Scope } from '../domain/grants.ts';
import type { Context } from '../usecases/context.ts';
import { findClient } from './clients.ts';
import { isOurResource, issuerOf } from './metadata.ts';
import { OAuthError, type OAuthErrorCode } from './oauth-error.ts';
import { isSame, problemOf } from './redirect-uri.ts';

/** A valid request: what the consent page asks about. */
export interface AuthorizationRequest {
  readonly clientId: string;
  readonly clientName: string | undefined;
  /** Host of the client ID, if that is a URL. */
  readonly clientHost: string | undefined;
  readonly redirectUri: string;
  readonly state: string | undefined;
  readonly codeChallenge: string;
  /** At least one. */
  readonly scopes: readonly Scope[];
}

/** An error that the client is told, by a redirect. */
export class RedirectedError extends Error {
  readonly location: string;

  constructor(location: string, message: string) {
    super(message);
    this.location = location;
  }
}

const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;

/** Throws OAuthError, for the person, or RedirectedError. `parameters` throws if a parameter is repeated. */
export async function readAuthorization(
  context: Context,
  base: string,
  parameters: ReadonlyMap<string, string>,
  network: string,
): Promise<AuthorizationRequest> {
  const clientId = parameters.get('client_id');
  if (!clientId) throw new OAuthError('invalid_request', 'The parameter client_id is missing.');
  const client = await findClient(context, clientId, network);
  const redirectUri = parameters.get('redirect_uri') ?? onlyOne(client.redirectUris);
  if (!redirectUri) throw new OAuthError('invalid_request', 'The parameter redirect_uri is missing.');
  const problem = problemOf(redirectUri);
  if (problem) throw new OAuthError('invalid_request', `The redirect URI is refused: ${problem}.`);
  if (!client.redirectUris.some((registered) => isSame(registered, redirectUri))) {
    throw new OAuthError(
      'invalid_request',
      'The redirect URI is not one of those that the client has registered.',
    );
  }
  const state = parameters.get('state');
  try {
    return {
      clientId,
      clientName: client.name,
      clientHost: client.host,
      redirectUri,
      state,
      codeChallenge: readChallenge(parameters),
      scopes: readRequest(base, parameters),
    };
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    throw new RedirectedError(
      refusal(base, { redirectUri, state }, error.code, error.message),
      error.message,
    );
  }
}

function onlyOne(uris: readonly string[]): string | undefined {
  return uris.length === 1 ? uris[0] : undefined;
}

function readChallenge(parameters: ReadonlyMap<string, string>): string {
  const codeChallenge = parameters.get('code_challenge') ?? '';
  if (parameters.get('code_challenge_method') !== 'S256' || !CHALLENGE.test(codeChallenge)) {
    throw new OAuthError(
      'invalid_request',
      'PKCE is required: send code_challenge and code_challenge_method=S256.',
    );
  }
  return codeChallenge;
}

function readRequest(base: string, parameters: ReadonlyMap<string, string>): readonly Scope[] {
  if (parameters.get('response_type') !== 'code') {
    throw new OAuthError('unsupported_response_type', 'response_type must be code.');
  }
  requireOurResource(base, parameters);
  return readScopes(parameters.get('scope')) ?? SCOPES;
}

/** Throws invalid_target for another resource. */
export function requireOurResource(base: string, parameters: ReadonlyMap<string, string>): void {
  const resource = parameters.get('resource');
  if (resource === undefined || isOurResource(base, resource)) return;
  throw new OAuthError(
    'invalid_target',
    'resource names another service. It must be the URL of /mcp/connect.',
  );
}

/** Undefined if none are requested. Unknown scopes are ignored; throws invalid_scope if no others are left. */
export function readScopes(text: string | undefined): readonly Scope[] | undefined {
  const requested = (text ?? '').split(' ').filter((name) => name !== '');
  if (requested.length === 0) return undefined;
  const scopes = SCOPES.filter((scope) => requested.includes(scope));
  if (scopes.length > 0) return scopes;
  throw new OAuthError('invalid_scope', `The scopes are ${SCOPES.join(' and ')}.`);
}

type Returning = Pick<AuthorizationRequest, 'redirectUri' | 'state'>;

/** URL that tells the client why it gets no code. */
export function refusal(
  base: string,
  request: Returning,
  error: OAuthErrorCode,
  description: string,
): string {
  return returnUrl(base, request, { error, error_description: description });
}

/** The redirect URI with these parameters, the state of the request, and the issuer, so that clients cannot mix servers up. */
export function returnUrl(
  base: string,
  { redirectUri, state }: Returning,
  parameters: Readonly<Record<string, string>>,
): string {
  const url = new URL(redirectUri);
  const added = { ...parameters, ...(state !== undefined && { state }), iss: issuerOf(base) };
  for (const [name, value] of Object.entries(added)) url.searchParams.append(name, value);
  return url.href;
}
