// A client that signs in step by step, as raw requests: tests change one step and see what happens. The page is operated as a browser
// without scripts would.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import type { Answer, Client } from '../support/client.ts';

export const REDIRECT = 'http://127.0.0.1:33418/callback';

export interface Verifier {
  readonly verifier: string;
  readonly challenge: string;
}

export function newVerifier(): Verifier {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** Registers a client and returns its ID. */
export async function newClientId(client: Client, metadata: object = {}): Promise<string> {
  const answer = await client.post('/oauth/register', {
    redirect_uris: [REDIRECT],
    client_name: 'Test client',
    ...metadata,
  });
  assert.equal(answer.status, 201, answer.text);
  return answer.body.client_id;
}

/** A valid request, with changes; undefined leaves a parameter out. */
export function authorizePath(
  clientId: string,
  { challenge }: Pick<Verifier, 'challenge'>,
  changes: Record<string, string | undefined> = {},
): string {
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: REDIRECT,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    state: 'the state',
    ...changes,
  };
  const sent = Object.entries(parameters).filter(([, value]) => value !== undefined) as [string, string][];
  return `/oauth/authorize?${new URLSearchParams(sent)}`;
}

/** A form as browsers send it from our own page. */
export function sendForm(
  client: Client,
  path: string,
  fields: Record<string, string> | string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return client.send('POST', path, {
    raw: typeof fields === 'string' ? fields : `${new URLSearchParams(fields)}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });
}

/** The sealed state of a page. */
export function pageOf({ text }: Answer): string {
  const [, page] = /name="page" value="([^"]+)"/.exec(text) ?? [];
  assert.ok(page, text);
  return page;
}

export const FROM_OUR_PAGE = { 'sec-fetch-site': 'same-origin' };

/** Answers the page. `cookie` is sent with it. */
export function answerPage(
  client: Client,
  shown: Answer,
  fields: Record<string, string>,
  cookie?: string,
): Promise<Answer> {
  const headers = { ...FROM_OUR_PAGE, ...(cookie !== undefined && { cookie }) };
  return sendForm(client, '/oauth/authorize', { page: pageOf(shown), action: 'allow', ...fields }, headers);
}

/** Parameters of the redirect to the client. */
export function redirectOf({ status, headers, text }: Answer): URLSearchParams {
  assert.equal(status, 303, text);
  return new URL(headers.get('location')!).searchParams;
}

/** The cookie that the answer sets, as a browser sends it back. */
export function cookieOf({ headers }: Answer): string {
  const [cookie] = (headers.get('set-cookie') ?? '').split(';');
  return cookie!;
}

export interface SignedIn {
  readonly clientId: string;
  readonly key: string;
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
}

export interface CodeGiven extends Verifier {
  readonly clientId: string;
  readonly code: string;
  readonly key: string;
}

/** Goes as far as the code, for an agent with this key or a new one. */
export async function getCode(
  client: Client,
  options: { key?: string; scope?: 'read' | 'publish'; clientId?: string; requested?: string } = {},
): Promise<CodeGiven> {
  const key = options.key ?? (await client.register()).headers['x-api-key']!;
  const clientId = options.clientId ?? (await newClientId(client));
  const pkce = newVerifier();
  const shown = await client.send('GET', authorizePath(clientId, pkce, { scope: options.requested }));
  assert.equal(shown.status, 200, shown.text);
  const answer = await answerPage(client, shown, { agent: 'own', key, scope: options.scope ?? 'publish' });
  const parameters = redirectOf(answer);
  assert.deepEqual([parameters.get('state'), parameters.get('iss')], ['the state', `${client.url}/oauth`]);
  return { ...pkce, clientId, key, code: parameters.get('code')! };
}

export function exchange(
  client: Client,
  { clientId, code, verifier }: CodeGiven,
  changes: Record<string, string> = {},
): Promise<Answer> {
  return sendForm(client, '/oauth/token', {
    grant_type: 'authorization_code',
    client_id: clientId,
    code,
    redirect_uri: REDIRECT,
    code_verifier: verifier,
    ...changes,
  });
}

export function refresh(
  client: Client,
  { clientId, refresh_token }: Pick<SignedIn, 'clientId' | 'refresh_token'>,
  changes: Record<string, string> = {},
): Promise<Answer> {
  const fields = { grant_type: 'refresh_token', client_id: clientId, refresh_token, ...changes };
  return sendForm(client, '/oauth/token', fields);
}

/** The whole way to tokens. */
export async function signIn(client: Client, options: Parameters<typeof getCode>[1] = {}): Promise<SignedIn> {
  const given = await getCode(client, options);
  const answer = await exchange(client, given);
  assert.equal(answer.status, 200, answer.text);
  return { ...answer.body, clientId: given.clientId, key: given.key };
}

/** Calls a tool at /mcp/connect, in a request of its own. */
export function callTool(
  client: Client,
  token: string,
  name = 'get_my_agent',
  args: object = {},
): Promise<Answer> {
  return client.send('POST', '/mcp/connect', {
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
  });
}

/** Asserts an error of OAuth. */
export function assertOAuthError(answer: Answer, status: number, error: string): void {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.body.error, error, answer.text);
  assert.match(answer.body.error_description, /\S/);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
}

/** Waits until the token is refused: a node may remember it for a second at most. */
export async function untilRefused(send: () => Promise<{ readonly status: number }>): Promise<void> {
  for (const from = performance.now(); performance.now() - from < 1_000; ) {
    if ((await send()).status === 401) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.equal((await send()).status, 401);
}
