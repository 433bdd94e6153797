// Exchange of an authorization code for tokens. Handles the differences between providers: how a client authenticates, and
// that Google writes its issuer in two ways.
import * as openid from 'openid-client';
import { providerFetch } from '../outbound/provider-fetch.ts';
import { TIMEOUT_MS } from './provider.ts';

export interface ExchangeOptions {
  readonly metadata: openid.ServerMetadata;
  /** Issuer values that the provider may use in an ID token. */
  readonly issuers: readonly string[];
  readonly clientId: string;
  readonly clientSecret: string | undefined;
}

/** OpenID client for the provider. Without `clientAuth`, it can only make requests that need no client authentication. */
export function configure(
  metadata: openid.ServerMetadata,
  clientId: string,
  clientAuth: openid.ClientAuth = openid.None(),
): openid.Configuration {
  const configuration = new openid.Configuration(metadata, clientId, undefined, clientAuth);
  configuration.timeout = TIMEOUT_MS / 1000;
  configuration[openid.customFetch] = providerFetch;
  if (isPlainHttp(metadata.issuer)) openid.allowInsecureRequests(configuration);
  return configuration;
}

/** Operators may choose a provider without TLS; `serve` warns about it. A provider with TLS may name only https endpoints. */
export function isPlainHttp(issuer: string): boolean {
  return /^http:/i.test(issuer);
}

/** Throws the errors of openid-client, which may contain secrets. */
export async function exchangeCode(
  options: ExchangeOptions,
  callback: URL,
  checks: openid.AuthorizationCodeGrantChecks,
): Promise<openid.TokenEndpointResponse> {
  const [first, ...others] = clientAuths(options);
  let exchange = exchangeWith(options, first!, callback, checks);
  // The methods that a provider supports do not tell how this client was registered, so try each. A rejected client
  // authentication does not use up the code.
  for (const clientAuth of others) {
    exchange = exchange.catch((error: unknown) => {
      if (!isInvalidClient(error)) throw error;
      return exchangeWith(options, clientAuth, callback, checks);
    });
  }
  return exchange;
}

/** Client authentication methods to try. Body first: many providers do not decode the percent-encoding in the header. */
function clientAuths({ metadata, clientSecret }: ExchangeOptions): openid.ClientAuth[] {
  if (clientSecret === undefined) return [openid.None()];
  const supported = metadata.token_endpoint_auth_methods_supported;
  const inBody = supported === undefined || supported.includes('client_secret_post');
  const inHeader = supported === undefined || supported.includes('client_secret_basic') || !inBody;
  return [
    ...(inBody ? [openid.ClientSecretPost(clientSecret)] : []),
    ...(inHeader ? [openid.ClientSecretBasic(clientSecret)] : []),
  ];
}

function isInvalidClient(error: unknown): boolean {
  if (error instanceof openid.ResponseBodyError) return error.error === 'invalid_client';
  return error instanceof openid.WWWAuthenticateChallengeError && error.status === 401;
}

async function exchangeWith(
  { metadata, issuers, clientId }: ExchangeOptions,
  clientAuth: openid.ClientAuth,
  callback: URL,
  checks: openid.AuthorizationCodeGrantChecks,
): Promise<openid.TokenEndpointResponse> {
  let response: Response | undefined;
  const fetchOnce: openid.CustomFetch = async (url, init) => {
    response ??= await providerFetch(url, init);
    return response.clone();
  };
  const exchangeAs = (issuer: string, from: URL) => {
    const configuration = configure({ ...metadata, issuer }, clientId, clientAuth);
    configuration[openid.customFetch] = fetchOnce;
    return openid.authorizationCodeGrant(configuration, from, { ...checks, idTokenExpected: true });
  };
  try {
    return await exchangeAs(metadata.issuer, callback);
  } catch (error) {
    const other = issuers.find((issuer) => issuer !== metadata.issuer);
    if (other === undefined || !isOtherIssuer(error)) throw error;
    // The callback URL was valid with the first issuer value; only the ID token has the other one.
    const rewritten = new URL(callback);
    if (rewritten.searchParams.has('iss')) rewritten.searchParams.set('iss', other);
    return exchangeAs(other, rewritten);
  }
}

/** Whether validation failed at the issuer in the ID token. */
function isOtherIssuer(error: unknown): boolean {
  const { cause } = error as { cause?: { cause?: { claim?: unknown } } };
  return cause?.cause?.claim === 'iss';
}
