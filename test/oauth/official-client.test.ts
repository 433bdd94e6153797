// The official MCP client, and a certified OAuth client, sign in: with a document that describes the client, and by registration.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { Client as McpSdkClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import * as openid from 'openid-client';
import { McpClient } from '../mcp/mcp-client.ts';
import { newCertificate } from '../support/certificate.ts';
import type { Client } from '../support/client.ts';
import { startTestService, useTestService } from '../support/service.ts';
import { answerPage, newClientId, REDIRECT, redirectOf } from './flow.ts';

/** What the person does in the browser, as requests. Returns the parameters of the redirect. */
async function consent(client: Client, url: URL, key: string, scope = 'publish'): Promise<URLSearchParams> {
  const shown = await client.send('GET', url.pathname + url.search);
  assert.equal(shown.status, 200, shown.text);
  return redirectOf(await answerPage(client, shown, { agent: 'own', key, scope }));
}

/** Signs the official client in, and returns it connected. `clientMetadataUrl` undefined: it registers itself. */
async function connect(service: { url: string; client: Client }, key: string, clientMetadataUrl?: string) {
  const kept: { client?: object; tokens?: object; verifier?: string; opened?: URL } = {};
  const authProvider = {
    redirectUrl: REDIRECT,
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    clientMetadata: {
      client_name: 'The official client',
      redirect_uris: [REDIRECT],
      token_endpoint_auth_method: 'none',
    },
    state: () => 'state of the client',
    clientInformation: () => kept.client as never,
    saveClientInformation: (client: object) => {
      kept.client = client;
    },
    tokens: () => kept.tokens as never,
    saveTokens: (tokens: object) => {
      kept.tokens = tokens;
    },
    redirectToAuthorization: (url: URL) => {
      kept.opened = url;
    },
    saveCodeVerifier: (verifier: string) => {
      kept.verifier = verifier;
    },
    codeVerifier: () => kept.verifier!,
  };
  const url = new URL('/mcp/connect', service.url);
  const newTransport = () => new StreamableHTTPClientTransport(url, { authProvider });
  const transport = newTransport();
  const client = new McpSdkClient({ name: 'test', version: '1.0.0' });
  await assert.rejects(client.connect(transport), /[Uu]nauthorized/);
  assert.ok(kept.opened, 'the client opened no page');
  const parameters = await consent(service.client, kept.opened, key);
  await transport.finishAuth(parameters);
  await client.connect(newTransport());
  return { client: McpClient.of(client), kept };
}

describe('the official client', () => {
  it('registers itself, signs in, calls tools, and refreshes its token', async (test) => {
    const service = await startTestService({}, { until: test });
    const key = (await service.newAgent()).headers['x-api-key']!;
    const { client, kept } = await connect(service, key);
    assert.match((kept.client as { client_id: string }).client_id, /^[\w-]{43}$/);
    assert.equal((await client.get('search_events', { lat: 0, lng: 0 })).total, 0);
    const first = kept.tokens;
    service.clock.advance(3_600_000);
    assert.equal((await client.get('get_my_agent')).agent.agent_name, 'test agent');
    assert.notDeepEqual(kept.tokens, first);
    await client.close();
  });

  it('signs in with a document at its client ID', async (test) => {
    const documents = createServer(newCertificate('DNS:localhost'), (request, response) => {
      const client_id = `https://localhost:${port}${request.url}`;
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ client_id, client_name: 'Documented', redirect_uris: [REDIRECT] }));
    });
    documents.listen(0, '127.0.0.1');
    await once(documents, 'listening');
    test.after(() => documents.close());
    const { port } = documents.address() as AddressInfo;
    const OUTBOUND_ALLOW = `client:localhost:${port}`;
    const service = await startTestService({ OUTBOUND_ALLOW }, { until: test });
    const agent = await service.newAgent();
    const clientId = `https://localhost:${port}/client.json`;
    const { client, kept } = await connect(service, agent.headers['x-api-key']!, clientId);
    assert.equal((kept.client as { client_id: string }).client_id, clientId);
    assert.equal((await client.get('get_my_agent')).agent.agent_name, 'test agent');
    const { body } = await agent.get('/v1/agents/me/grants');
    assert.deepEqual(
      body.grants.map((grant: { client: object }) => grant.client),
      [{ name: 'Documented', host: null }],
    );
    await client.close();
  });
});

describe('a certified OAuth client', () => {
  const service = useTestService();

  it('finds the metadata, signs in with PKCE, checks the issuer, refreshes and revokes', async () => {
    const { client, url } = service;
    const agent = await service.newAgent();
    const clientId = await newClientId(client);
    const configuration = await openid.discovery(
      new URL(`${url}/oauth`),
      clientId,
      undefined,
      openid.None(),
      {
        algorithm: 'oauth2',
        execute: [openid.allowInsecureRequests],
      },
    );
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const state = openid.randomState();
    const begun = openid.buildAuthorizationUrl(configuration, {
      redirect_uri: REDIRECT,
      scope: 'read publish',
      resource: `${url}/mcp/connect`,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      state,
    });
    const parameters = await consent(client, begun, agent.headers['x-api-key']!, 'read');
    const back = new URL(`${REDIRECT}?${parameters}`);
    const tokens = await openid.authorizationCodeGrant(configuration, back, {
      pkceCodeVerifier,
      expectedState: state,
    });
    assert.equal(tokens.scope, 'read');
    const renewed = await openid.refreshTokenGrant(configuration, tokens.refresh_token!);
    await openid.tokenRevocation(configuration, renewed.refresh_token!);
    await assert.rejects(openid.refreshTokenGrant(configuration, renewed.refresh_token!), {
      error: 'invalid_grant',
    });
    assert.deepEqual((await agent.get('/v1/agents/me/grants')).body.grants, []);
  });

  it('refuses a redirect that another server has made', async () => {
    const clientId = await newClientId(service.client);
    const metadata = { issuer: 'https://other.example', token_endpoint: `${service.url}/oauth/token` };
    const other = new openid.Configuration(
      { ...metadata, authorization_response_iss_parameter_supported: true },
      clientId,
      undefined,
      openid.None(),
    );
    const back = new URL(`${REDIRECT}?code=lec_x&iss=${encodeURIComponent(`${service.url}/oauth`)}`);
    await assert.rejects(
      openid.authorizationCodeGrant(other, back, { pkceCodeVerifier: 'x'.repeat(43) }),
      (error: Error) => /"iss"/.test(String(error.cause)),
    );
  });
});
