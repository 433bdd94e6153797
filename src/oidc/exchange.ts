// The exchange of an authorization code for tokens. Knows in what providers differ: how a client proves itself, and how
// Google spells its name.
import * as openid from 'openid-client';
import { TIMEOUT_MS } from './provider.ts';

export interface ExchangeOptions {
  readonly metadata: openid.ServerMetadata;
  /** How the provider may write its name in an ID token. */
  readonly issuers: readonly string[];
  readonly clientId: string;
  readonly clientSecret: string | undefined;
}

/** A client of the provider. Without a proof it can only ask for what needs none. */
export function configure(
  metadata: openid.ServerMetadata,
  clientId: string,
  proof: openid.ClientAuth = openid.None(),
): openid.Configuration {
  const configuration = new openid.Configuration(metadata, clientId, undefined, proof);
  configuration.timeout = TIMEOUT_MS / 1000;
  if (isPlainHttp(metadata.issuer)) openid.allowInsecureRequests(configuration);
  return configuration;
}

/** A provider without TLS is the operator's choice, and warned of at the start; one with TLS names no address without. */
export function isPlainHttp(issuer: string): boolean {
  return /^http:/i.test(issuer);
}

/** Throws what openid-client throws; its errors may hold secrets. */
export async function exchangeCode(
  options: ExchangeOptions,
  answer: URL,
  checks: openid.AuthorizationCodeGrantChecks,
): Promise<openid.TokenEndpointResponse> {
  const [first, ...others] = proofs(options);
  let exchange = exchangeWith(options, first!, answer, checks);
  // What a provider can do says nothing about how this client was registered there. A refused proof uses up no code.
  for (const proof of others) {
    exchange = exchange.catch((error: unknown) => {
      if (!isUnknownClient(error)) throw error;
      return exchangeWith(options, proof, answer, checks);
    });
  }
  return exchange;
}

/** In the body first: many providers do not undo the escapes that the header calls for. */
function proofs({ metadata, clientSecret }: ExchangeOptions): openid.ClientAuth[] {
  if (clientSecret === undefined) return [openid.None()];
  const known = metadata.token_endpoint_auth_methods_supported;
  const inBody = known === undefined || known.includes('client_secret_post');
  const inHeader = known === undefined || known.includes('client_secret_basic') || !inBody;
  return [
    ...(inBody ? [openid.ClientSecretPost(clientSecret)] : []),
    ...(inHeader ? [openid.ClientSecretBasic(clientSecret)] : []),
  ];
}

function isUnknownClient(error: unknown): boolean {
  if (error instanceof openid.ResponseBodyError) return error.error === 'invalid_client';
  return error instanceof openid.WWWAuthenticateChallengeError && error.status === 401;
}

async function exchangeWith(
  { metadata, issuers, clientId }: ExchangeOptions,
  proof: openid.ClientAuth,
  answer: URL,
  checks: openid.AuthorizationCodeGrantChecks,
): Promise<openid.TokenEndpointResponse> {
  let answered: Response | undefined;
  const fetchOnce: openid.CustomFetch = async (address, init) => {
    answered ??= await fetch(address, init as RequestInit);
    return answered.clone();
  };
  const expecting = (issuer: string, from: URL) => {
    const configuration = configure({ ...metadata, issuer }, clientId, proof);
    configuration[openid.customFetch] = fetchOnce;
    return openid.authorizationCodeGrant(configuration, from, { ...checks, idTokenExpected: true });
  };
  try {
    return await expecting(metadata.issuer, answer);
  } catch (error) {
    const other = issuers.find((issuer) => issuer !== metadata.issuer);
    if (other === undefined || !isOtherIssuer(error)) throw error;
    // The address was checked against the first; the ID token is what writes it otherwise.
    const rewritten = new URL(answer);
    if (rewritten.searchParams.has('iss')) rewritten.searchParams.set('iss', other);
    return expecting(other, rewritten);
  }
}

/** Whether all that is wrong so far is the issuer in the ID token. */
function isOtherIssuer(error: unknown): boolean {
  const { cause } = error as { cause?: { cause?: { claim?: unknown } } };
  return cause?.cause?.claim === 'iss';
}
