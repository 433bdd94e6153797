// URLs of the authorization server, and the two documents that clients find them by: RFC 9728 for /mcp/connect, RFC 8414 for its issuer.
// The issuer has a path, so nothing at the root of /.well-known/ claims the whole host.
import { SCOPES } from '../domain/grants.ts';

/** MCP for clients that sign in. */
export const CONNECT_PATH = '/mcp/connect';

const ISSUER_PATH = '/oauth';
export const AUTHORIZE_PATH = `${ISSUER_PATH}/authorize`;
export const TOKEN_PATH = `${ISSUER_PATH}/token`;
export const REGISTER_PATH = `${ISSUER_PATH}/register`;
export const REVOKE_PATH = `${ISSUER_PATH}/revoke`;
export const RESOURCE_DOCUMENT_PATH = `/.well-known/oauth-protected-resource${CONNECT_PATH}`;
export const SERVER_DOCUMENT_PATH = `/.well-known/oauth-authorization-server${ISSUER_PATH}`;

export const issuerOf = (base: string) => base + ISSUER_PATH;

/** Paths that scripts of all pages may call. */
export function isOpenPath(path: string): boolean {
  return [TOKEN_PATH, REGISTER_PATH, REVOKE_PATH, RESOURCE_DOCUMENT_PATH, SERVER_DOCUMENT_PATH].includes(
    path,
  );
}

export function describeResource(base: string): object {
  return {
    resource: base + CONNECT_PATH,
    authorization_servers: [issuerOf(base)],
    scopes_supported: SCOPES,
    bearer_methods_supported: ['header'],
    resource_name: 'local-events',
    resource_documentation: `${base}/for-agents`,
  };
}

export function describeServer(base: string): object {
  return {
    issuer: issuerOf(base),
    authorization_endpoint: base + AUTHORIZE_PATH,
    token_endpoint: base + TOKEN_PATH,
    registration_endpoint: base + REGISTER_PATH,
    revocation_endpoint: base + REVOKE_PATH,
    scopes_supported: SCOPES,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    service_documentation: `${base}/for-agents`,
  };
}

/**
 * Challenge of a 401 or 403 at /mcp/connect. Clients read only the first challenge, so it is the only one.
 */
export function challenge(base: string, error?: 'invalid_token' | 'insufficient_scope'): string {
  const parts = [
    ...(error ? [`error="${error}"`] : []),
    `resource_metadata="${base}${RESOURCE_DOCUMENT_PATH}"`,
    `scope="${SCOPES.join(' ')}"`,
  ];
  return `Bearer ${parts.join(', ')}`;
}

/** Whether this is the URL of /mcp/connect; one slash at the end does not matter. */
export function isOurResource(base: string, resource: string): boolean {
  const url = URL.parse(resource);
  if (url === null) return false;
  return url.href.replace(/\/$/, '') === new URL(base + CONNECT_PATH).href;
}
