// Clients, all of them public: those that publish a document at their client ID, and those that register here (RFC 7591).

import { AppError } from '../domain/errors.ts';
import { newSecret } from '../domain/ids.ts';
import { requireQuota, spendClientRegistration } from '../usecases/access.ts';
import type { Context } from '../usecases/context.ts';
import { isClientName, MAX_NAME_LENGTH } from './client-documents.ts';
import { OAuthError } from './oauth-error.ts';
import { problemOf } from './redirect-uri.ts';

export interface Client {
  readonly clientId: string;
  readonly name: string | undefined;
  readonly redirectUris: readonly string[];
  /** Host of the client ID, if that is a URL: who has it controls the client. */
  readonly host: string | undefined;
}

const MAX_REDIRECT_URIS = 10;

export const isDocumentUrl = (clientId: string) => clientId.startsWith('https://');

/** Throws OAuthError: invalid_client. */
export async function findClient(context: Context, clientId: string, network: string): Promise<Client> {
  if (isDocumentUrl(clientId)) {
    const { documents } = context.oauth!;
    const found = await documents.find(clientId, network).catch(noDocument);
    return { ...found, host: new URL(clientId).host };
  }
  const found = await context.store.findClient(clientId);
  if (!found) throw unknownClient();
  const { client_name, redirect_uris } = found;
  return { clientId, name: client_name || undefined, redirectUris: redirect_uris, host: undefined };
}

function noDocument(error: unknown): never {
  const isInvalid = error instanceof AppError && error.code === 'VALIDATION_ERROR';
  throw isInvalid ? new OAuthError('invalid_client', error.message) : error;
}

/** Error for a client ID that is not registered, or no longer. Clients that get it register again. */
export function unknownClient(): OAuthError {
  return new OAuthError(
    'invalid_client',
    'This client is not registered here, or no longer. Register it again.',
  );
}

/** Registers the client. What it asks for beyond the code flow without a secret is replaced. Throws OAuthError or RATE_LIMITED. */
export async function registerClient(context: Context, network: string, body: unknown): Promise<object> {
  requireQuota(await spendClientRegistration(context, network), 'quota client_registrations');
  const { redirect_uris, client_name = '' } = readMetadata(body);
  const { store, clock, random } = context;
  const registered_ms = clock();
  const client_id = newSecret(random);
  await store.addClient({ client_id, registered_ms, client_name, redirect_uris });
  return {
    client_id,
    client_id_issued_at: Math.floor(registered_ms / 1000),
    ...(client_name !== '' && { client_name }),
    redirect_uris,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
}

interface Metadata {
  readonly redirect_uris: readonly string[];
  readonly client_name?: string;
}

function readMetadata(body: unknown): Metadata {
  const metadata = Object(body) as Readonly<Record<string, unknown>>;
  const { redirect_uris: uris, client_name: name } = metadata;
  if (name !== undefined && !isClientName(name)) {
    throw new OAuthError(
      'invalid_client_metadata',
      `client_name must be a text of at most ${MAX_NAME_LENGTH} characters, without NUL.`,
    );
  }
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MAX_REDIRECT_URIS) {
    throw new OAuthError('invalid_redirect_uri', `redirect_uris must list 1 to ${MAX_REDIRECT_URIS} URLs.`);
  }
  for (const uri of uris) {
    const problem = typeof uri === 'string' ? problemOf(uri) : 'it is not a text';
    if (problem) throw new OAuthError('invalid_redirect_uri', `A redirect URI is refused: ${problem}.`);
  }
  return metadata as unknown as Metadata;
}
