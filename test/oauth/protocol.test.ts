// The authorization server, request by request, on both engines: metadata, registration, authorization, tokens, refresh and revocation.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertError } from '../support/client.ts';
import { ENGINES } from '../support/engines.ts';
import { startTestService, useTestService } from '../support/service.ts';
import {
  answerPage,
  assertOAuthError,
  authorizePath,
  callTool,
  exchange,
  getCode,
  newClientId,
  newVerifier,
  REDIRECT,
  redirectOf,
  refresh,
  sendForm,
  signIn,
  untilRefused,
} from './flow.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('the metadata', () => {
  const service = useTestService();

  it('leads from /mcp/connect to the endpoints', async () => {
    const { client, url } = service;
    const refused = await client.post('/mcp/connect', {});
    assertError(refused, 401, 'MISSING_TOKEN');
    const challenge = refused.headers.get('www-authenticate')!;
    assert.equal(
      challenge,
      `Bearer resource_metadata="${url}/.well-known/oauth-protected-resource/mcp/connect", scope="read publish"`,
    );
    const resource = await client.get('/.well-known/oauth-protected-resource/mcp/connect');
    assert.equal(resource.body.resource, `${url}/mcp/connect`);
    assert.deepEqual(resource.body.authorization_servers, [`${url}/oauth`]);
    const server = await client.get('/.well-known/oauth-authorization-server/oauth');
    const { issuer, code_challenge_methods_supported, token_endpoint_auth_methods_supported } = server.body;
    assert.deepEqual(
      [issuer, code_challenge_methods_supported, token_endpoint_auth_methods_supported],
      [`${url}/oauth`, ['S256'], ['none']],
    );
    assert.equal(server.body.authorization_response_iss_parameter_supported, true);
    assert.equal(server.body.client_id_metadata_document_supported, true);
    for (const name of ['authorization', 'token', 'registration', 'revocation'])
      assert.equal(URL.parse(server.body[`${name}_endpoint`])?.origin, url);
  });

  it('is at no URL that claims the whole host', async () => {
    for (const path of ['oauth-protected-resource', 'oauth-authorization-server', 'openid-configuration'])
      assertError(await service.client.get(`/.well-known/${path}`), 404, 'NOT_FOUND');
  });

  it('uses the host name that the client uses, if it is one of this computer', async () => {
    const { port } = new URL(service.url);
    const local = service.client.with({ host: `localhost:${port}` });
    const { body } = await local.get('/.well-known/oauth-protected-resource/mcp/connect');
    assert.equal(body.resource, `http://localhost:${port}/mcp/connect`);
    const other = service.client.with({ host: 'attacker.example' });
    const refused = await other.get('/.well-known/oauth-protected-resource/mcp/connect');
    assertOAuthErrorStatus(refused.status);
  });

  const assertOAuthErrorStatus = (status: number) => assert.equal(status, 403);

  it('can be read by pages of other origins, with the challenge', async () => {
    const page = service.client.with({ origin: 'https://chat.example' });
    for (const path of ['/.well-known/oauth-authorization-server/oauth', '/oauth/token', '/mcp/connect']) {
      const answer = path.startsWith('/.') ? await page.get(path) : await page.post(path, {});
      assert.equal(answer.headers.get('access-control-allow-origin'), '*', path);
      assert.match(answer.headers.get('access-control-expose-headers')!, /WWW-Authenticate/);
    }
    const preflight = await page.send('OPTIONS', '/mcp/connect');
    assert.match(
      preflight.headers.get('access-control-allow-headers')!,
      /Authorization.*Mcp-Protocol-Version/,
    );
    const asksForMetadata = await page.send('OPTIONS', '/.well-known/oauth-authorization-server/oauth');
    assert.match(asksForMetadata.headers.get('access-control-allow-headers')!, /Mcp-Protocol-Version/);
    for (const path of ['/oauth/authorize', '/oauth/%61uthorize']) {
      const consent = await page.get(path);
      assert.equal(consent.headers.get('access-control-allow-origin'), null, path);
    }
  });

  it('does not exist if OAUTH is off', async (test) => {
    const off = await startTestService({ OAUTH: 'off' }, { until: test });
    for (const path of [
      '/.well-known/oauth-protected-resource/mcp/connect',
      '/.well-known/oauth-authorization-server/oauth',
      '/oauth/authorize',
    ])
      assertError(await off.client.get(path), 404, 'NOT_FOUND');
    for (const path of ['/oauth/token', '/oauth/register', '/oauth/revoke', '/mcp/connect'])
      assertError(await off.client.post(path, {}), 404, 'NOT_FOUND');
    const refused = await off.client.post('/mcp', {});
    assert.doesNotMatch(refused.text, /connect/);
    assert.deepEqual(
      off.log.filter(({ msg }) => /OAUTH/.test(String(msg))),
      [],
    );
  });

  it('is off with a warning where tokens could be read on their way', async (test) => {
    const plain = await startTestService({ PUBLIC_URL: 'http://events.example' }, { until: test });
    assert.match(
      plain.log.map(({ msg }) => msg).join('\n'),
      /OAUTH is off.*PUBLIC_URL is http, so others could read access tokens/,
    );
    assertError(await plain.client.post('/mcp/connect', {}), 404, 'NOT_FOUND');
  });
});

describe('POST /mcp without a key', () => {
  const service = useTestService();

  it('names /mcp/connect and the front page, and no metadata', async () => {
    const refused = await service.client.post('/mcp', {});
    assertError(refused, 401, 'MISSING_API_KEY');
    assert.match(refused.body.error.message, /front page \(\/\).*\/mcp\/connect/);
    assert.doesNotMatch(refused.headers.get('www-authenticate')!, /resource_metadata/);
  });
});

describe('POST /oauth/register', () => {
  const service = useTestService({ CLIENT_REGISTRATIONS_PER_HOUR: '40' });

  it('registers a public client, whatever else it asks for', async () => {
    const answer = await service.client.post('/oauth/register', {
      redirect_uris: ['https://client.example/callback', 'cursor://anysphere/callback', 'http://[::1]/back'],
      client_name: 'Client',
      token_endpoint_auth_method: 'client_secret_basic',
      application_type: 'native',
      scope: 'read',
      grant_types: ['authorization_code'],
      contacts: ['me@example.com'],
    });
    assert.equal(answer.status, 201, answer.text);
    const { client_id, client_id_issued_at, ...registered } = answer.body;
    assert.match(client_id, /^[\w-]{43}$/);
    assert.ok(Math.abs(client_id_issued_at - Date.now() / 1000) < 60);
    assert.deepEqual(registered, {
      client_name: 'Client',
      redirect_uris: ['https://client.example/callback', 'cursor://anysphere/callback', 'http://[::1]/back'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    });
  });

  it('refuses redirect URIs that run code, name no host of their own, or hide their host', async () => {
    const schemes =
      'javascript data vbscript file blob filesystem about view-source intent ms-word ws wss ftp';
    const bad = [
      ...schemes.split(' ').map((scheme) => `${scheme}://client.example/x`),
      'http://client.example/callback',
      'http://127.0.0.1.evil.example/callback',
      'https://claude.ai@evil.example/callback',
      'https://@evil.example/callback',
      'https://evil.example\\@claude.ai/callback',
      'app:"><script>',
      'https://client.example/#fragment',
      "https://a;script-src'*'.example/",
      '/callback',
      `https://client.example/${'x'.repeat(500)}`,
    ];
    for (const redirect of bad) {
      const answer = await service.client.post('/oauth/register', { redirect_uris: [redirect] });
      assertOAuthError(answer, 400, 'invalid_redirect_uri');
    }
  });

  it('refuses what is no registration', async () => {
    for (const [body, error] of [
      [undefined, 'invalid_redirect_uri'],
      [[], 'invalid_redirect_uri'],
      [{ redirect_uris: [] }, 'invalid_redirect_uri'],
      [{ redirect_uris: [1] }, 'invalid_redirect_uri'],
      [{ redirect_uris: [REDIRECT], client_name: 5 }, 'invalid_client_metadata'],
      [{ redirect_uris: [REDIRECT], client_name: 'x'.repeat(201) }, 'invalid_client_metadata'],
      [{ redirect_uris: [REDIRECT], client_name: 'a\0b' }, 'invalid_client_metadata'],
    ] as const)
      assertOAuthError(await service.client.post('/oauth/register', body), 400, error);
    const malformed = await service.client.send('POST', '/oauth/register', { raw: '{' });
    assertOAuthError(malformed, 400, 'invalid_request');
    const large = await service.client.post('/oauth/register', {
      redirect_uris: [REDIRECT],
      x: 'x'.repeat(6_000),
    });
    assertOAuthError(large, 413, 'invalid_request');
  });

  it('is limited per network and hour', async (test) => {
    const limited = await startTestService({ CLIENT_REGISTRATIONS_PER_HOUR: '2' }, { until: test });
    await newClientId(limited.client);
    await newClientId(limited.client);
    const refused = await limited.client.post('/oauth/register', { redirect_uris: [REDIRECT] });
    assertOAuthError(refused, 429, 'temporarily_unavailable');
    assert.ok(Number(refused.headers.get('retry-after')) > 3_000);
    limited.clock.advance(HOUR_MS);
    await newClientId(limited.client);
  });
});

for (const [engine, newEnv] of Object.entries(ENGINES)) {
  describe(`signing in, on ${engine}`, () => {
    const service = useTestService(newEnv);
    const start = async (changes: Record<string, string | undefined>, clientId?: string) => {
      const id = clientId ?? (await newClientId(service.client));
      return service.client.send('GET', authorizePath(id, newVerifier(), changes));
    };

    it('gives tokens that call tools for the agent', async () => {
      const { access_token, refresh_token, scope, key, ...others } = await signIn(service.client);
      assert.deepEqual(
        [scope, Object.keys(others).sort()],
        ['read publish', ['clientId', 'expires_in', 'token_type']],
      );
      assert.match(access_token, /^lea_/);
      assert.match(refresh_token, /^ler_/);
      const mine = await service.client.with({ 'x-api-key': key }).get('/v1/agents/me');
      const answer = await callTool(service.client, access_token);
      assert.equal(answer.status, 200, answer.text);
      const result = JSON.parse(answer.text.replace(/^[\s\S]*?data: /, '')).result.structuredContent;
      assert.equal(result.agent.id, mine.body.agent.id);
      assert.equal(result.key, undefined);
    });

    it('takes access tokens only at /mcp/connect, and keys only elsewhere', async () => {
      const { access_token, key } = await signIn(service.client);
      for (const header of ['x-api-key', 'authorization'])
        assert.equal(
          (await service.client.with({ [header]: `Bearer ${access_token}` }).get('/v1/agents/me')).status,
          401,
        );
      const atMcp = await service.client.with({ authorization: `Bearer ${access_token}` }).post('/mcp', {});
      assertError(atMcp, 401, 'INVALID_API_KEY');
      const keyAtConnect = await callTool(service.client, key);
      assertError(keyAtConnect, 401, 'INVALID_TOKEN');
      assert.match(
        keyAtConnect.headers.get('www-authenticate')!,
        /^Bearer error="invalid_token", resource_metadata=/,
      );
      assertError(
        await service.client.with({ 'x-api-key': key }).post('/mcp/connect', {}),
        401,
        'MISSING_TOKEN',
      );
    });

    it('lets a token without publish read, and refuses writes with the scope that they need', async () => {
      const { access_token, scope } = await signIn(service.client, { scope: 'read' });
      assert.equal(scope, 'read');
      assert.equal(
        (await callTool(service.client, access_token, 'search_events', { lat: 1, lng: 1 })).status,
        200,
      );
      for (const tool of ['create_event', 'update_event', 'delete_event']) {
        const refused = await callTool(service.client, access_token, tool, {});
        assertError(refused, 403, 'INSUFFICIENT_SCOPE');
        assert.match(
          refused.headers.get('www-authenticate')!,
          /^Bearer error="insufficient_scope", resource_metadata="[^"]+", scope="read publish"$/,
        );
      }
    });

    it('grants at most what was requested, and ignores scopes that it does not know', async () => {
      const granted = async (requested: string | undefined, scope: 'read' | 'publish') =>
        (await signIn(service.client, { scope, ...(requested !== undefined && { requested }) })).scope;
      assert.equal(await granted(undefined, 'publish'), 'read publish');
      assert.equal(await granted('read publish offline_access openid', 'publish'), 'read publish');
      assert.equal(await granted('read', 'read'), 'read');
      assert.equal(await granted('publish', 'publish'), 'publish');
      const { access_token } = await signIn(service.client, { requested: 'publish' });
      assert.equal((await callTool(service.client, access_token)).status, 200);
      const clientId = await newClientId(service.client);
      const shown = await start({ scope: 'read' }, clientId);
      const wanted = await answerPage(service.client, shown, {
        agent: 'own',
        key: (await service.client.register()).headers['x-api-key']!,
        scope: 'publish',
      });
      assert.equal(wanted.status, 422);
    });

    it('redirects with the error, the state and the issuer once client and redirect URI are known', async () => {
      for (const [changes, error] of [
        [{ response_type: 'token' }, 'unsupported_response_type'],
        [{ response_type: undefined }, 'unsupported_response_type'],
        [{ code_challenge: undefined }, 'invalid_request'],
        [{ code_challenge_method: undefined }, 'invalid_request'],
        [{ code_challenge_method: 'plain' }, 'invalid_request'],
        [{ code_challenge: 'short' }, 'invalid_request'],
        [{ scope: 'offline_access' }, 'invalid_scope'],
        [{ resource: 'https://other.example/mcp' }, 'invalid_target'],
        [{ resource: `${service.url}/mcp` }, 'invalid_target'],
      ] as const) {
        const parameters = redirectOf(await start(changes));
        assert.deepEqual(
          [parameters.get('error'), parameters.get('state'), parameters.get('iss'), parameters.has('code')],
          [error, 'the state', `${service.url}/oauth`, false],
        );
      }
    });

    it('takes its own URL as the resource, also with a slash at the end or in capitals', async () => {
      const { host } = new URL(service.url);
      for (const resource of [
        `${service.url}/mcp/connect`,
        `${service.url}/mcp/connect/`,
        `HTTP://${host}/mcp/connect`,
      ])
        assert.equal((await start({ resource })).status, 200, resource);
    });

    it('leads no person to another site before they have seen its host', async () => {
      const redirect_uris = ['https://evil.example/x?a=b', 'app.example:/x'];
      const clientId = await newClientId(service.client, { redirect_uris });
      for (const [redirect_uri, label] of [
        [redirect_uris[0], 'evil.example'],
        [redirect_uris[1], 'the app'],
      ] as const) {
        const path = authorizePath(clientId, newVerifier(), { redirect_uri, scope: 'offline_access' });
        assert.equal(redirectOf(await service.client.send('GET', path)).get('error'), 'invalid_scope');
        const shown = await service.client.with({ accept: 'text/html' }).send('GET', path);
        assert.deepEqual([shown.status, shown.headers.get('location')], [400, null]);
        const [, href] = new RegExp(`href="([^"]+)">Back to ${label}<`).exec(shown.text)!;
        const { protocol, host, searchParams } = new URL(href!.replaceAll('&amp;', '&'));
        assert.deepEqual([protocol, host], [new URL(redirect_uri!).protocol, new URL(redirect_uri!).host]);
        assert.deepEqual(
          [searchParams.get('error'), searchParams.get('state')],
          ['invalid_scope', 'the state'],
        );
      }
    });

    it('treats an empty parameter as absent', async () => {
      assert.equal((await start({ resource: '', scope: '', redirect_uri: '' })).status, 200);
      const parameters = redirectOf(await start({ state: '', response_type: '' }));
      assert.deepEqual(
        [parameters.get('error'), parameters.has('state')],
        ['unsupported_response_type', false],
      );
    });

    it('refuses NUL in every parameter', async () => {
      const { client } = service;
      assert.equal((await client.send('GET', '/oauth/authorize?client_id=%00')).status, 422);
      for (const [path, form] of [
        ['/oauth/token', 'grant_type=refresh_token&refresh_token=x&client_id=%00'],
        ['/oauth/revoke', 'token=x&client_id=%00'],
      ] as const)
        assertOAuthError(await sendForm(client, path, form), 400, 'invalid_request');
    });

    it('shows a page, and redirects nowhere, if client or redirect URI are unknown', async () => {
      const clientId = await newClientId(service.client);
      for (const changes of [
        { client_id: 'unknown' },
        { client_id: undefined },
        { redirect_uri: 'http://127.0.0.1:1/other' },
        { redirect_uri: 'https://evil.example/' },
      ]) {
        const answer = await start(changes, clientId);
        assert.ok(answer.status >= 400 && answer.headers.get('location') === null, answer.text);
        assert.match(answer.text, /could not be connected/);
      }
      const twice = `${authorizePath(clientId, newVerifier())}&client_id=${clientId}`;
      assert.equal((await service.client.send('GET', twice)).status, 422);
    });

    it('takes any port of a loopback redirect, and no other path or host', async () => {
      const clientId = await newClientId(service.client, {
        redirect_uris: ['http://127.0.0.1/callback', 'http://[::1]:1/x'],
      });
      assert.equal((await start({ redirect_uri: 'http://127.0.0.1:50123/callback' }, clientId)).status, 200);
      assert.equal((await start({ redirect_uri: 'http://[::1]:4711/x' }, clientId)).status, 200);
      for (const redirect_uri of [
        'http://localhost:1/callback',
        'http://127.0.0.1:1/',
        'https://127.0.0.1/callback',
      ])
        assert.equal((await start({ redirect_uri }, clientId)).status, 400, redirect_uri);
    });

    it('tells the client that the person refused', async () => {
      const shown = await start({});
      const parameters = redirectOf(await answerPage(service.client, shown, { action: 'deny' }));
      assert.deepEqual([parameters.get('error'), parameters.get('state')], ['access_denied', 'the state']);
    });

    it('exchanges a code once, within 60 seconds, for the same client, redirect URI and verifier', async () => {
      const given = await getCode(service.client);
      const other = await newClientId(service.client);
      for (const changes of [
        { code_verifier: newVerifier().verifier },
        { client_id: other },
        { redirect_uri: 'http://127.0.0.1:33418/other' },
        { code: 'lec_unknown' },
      ])
        assertOAuthError(await exchange(service.client, given, changes), 400, 'invalid_grant');
      assert.equal((await exchange(service.client, given)).status, 200);
      const late = await getCode(service.client);
      service.clock.advance(60_000);
      assertOAuthError(await exchange(service.client, late), 400, 'invalid_grant');
    });

    it('exchanges the code of a client that sends no redirect URI, as in OAuth 2.1', async () => {
      const given = await getCode(service.client);
      assert.equal((await exchange(service.client, given, { redirect_uri: '' })).status, 200);
    });

    it('ends the grant if its code is replayed with the right verifier, not with another', async () => {
      const given = await getCode(service.client);
      const { body } = await exchange(service.client, given);
      const replay = { code_verifier: newVerifier().verifier };
      assertOAuthError(await exchange(service.client, given, replay), 400, 'invalid_grant');
      assert.equal((await callTool(service.client, body.access_token)).status, 200);
      assertOAuthError(await exchange(service.client, given), 400, 'invalid_grant');
      assertOAuthError(await refresh(service.client, { ...given, ...body }), 400, 'invalid_grant');
      await untilRefused(() => callTool(service.client, body.access_token));
    });

    it('gives one of two exchanges at the same moment the tokens, at most', async () => {
      const given = await getCode(service.client);
      const statuses = await Promise.all(
        [1, 2, 3].map(async () => (await exchange(service.client, given)).status),
      );
      assert.ok(statuses.filter((status) => status === 200).length <= 1);
    });

    it('refuses other requests for tokens with the error that OAuth has for them', async () => {
      const given = await getCode(service.client);
      for (const [changes, status, error] of [
        [{ grant_type: 'password' }, 400, 'unsupported_grant_type'],
        [{ grant_type: '' }, 400, 'invalid_request'],
        [{ client_id: '' }, 400, 'invalid_request'],
        [{ code_verifier: 'short' }, 400, 'invalid_request'],
        [{ client_id: 'gone' }, 401, 'invalid_client'],
        [{ resource: 'https://other.example/' }, 400, 'invalid_target'],
      ] as const)
        assertOAuthError(await exchange(service.client, given, changes), status, error);
      const json = await service.client.post('/oauth/token', { grant_type: 'authorization_code' });
      assertOAuthError(json, 400, 'invalid_request');
      const twice = await sendForm(service.client, '/oauth/token', 'grant_type=refresh_token&grant_type=x');
      assertOAuthError(twice, 400, 'invalid_request');
    });

    it('rotates refresh tokens; a rotated one works for a day like its successors', async () => {
      const signedIn = await signIn(service.client);
      const renewed = await Promise.all([1, 2, 3].map(() => refresh(service.client, signedIn)));
      for (const { status, body } of renewed) {
        assert.equal(status, 200);
        assert.notEqual(body.refresh_token, signedIn.refresh_token);
        assert.equal((await callTool(service.client, body.access_token)).status, 200);
      }
      service.clock.advance(DAY_MS + 1);
      assertOAuthError(await refresh(service.client, signedIn), 400, 'invalid_grant');
      for (const { body } of renewed)
        assert.equal((await refresh(service.client, { ...signedIn, ...body })).status, 200);
    });

    it('ends access tokens after an hour, and refresh tokens of a grant that was idle for 180 days', async () => {
      const signedIn = await signIn(service.client);
      service.clock.advance(HOUR_MS);
      assertError(await callTool(service.client, signedIn.access_token), 401, 'INVALID_TOKEN');
      const { body } = await refresh(service.client, signedIn);
      service.clock.advance(179 * DAY_MS);
      const later = await refresh(service.client, { ...signedIn, ...body });
      assert.equal(later.status, 200);
      service.clock.advance(180 * DAY_MS);
      assertOAuthError(await refresh(service.client, { ...signedIn, ...later.body }), 400, 'invalid_grant');
    });

    it('narrows the scope of an access token, and never widens it', async () => {
      const signedIn = await signIn(service.client);
      const { body } = await refresh(service.client, signedIn, { scope: 'read' });
      assert.equal(body.scope, 'read');
      assertError(
        await callTool(service.client, body.access_token, 'create_event'),
        403,
        'INSUFFICIENT_SCOPE',
      );
      const back = await refresh(service.client, { ...signedIn, ...body });
      assert.equal(back.body.scope, 'read publish');
      const reader = await signIn(service.client, { scope: 'read' });
      assertOAuthError(await refresh(service.client, reader, { scope: 'publish' }), 400, 'invalid_scope');
    });

    it('revokes an access token alone, and with a refresh token the grant; only for its client', async () => {
      const signedIn = await signIn(service.client);
      const { body } = await refresh(service.client, signedIn);
      const revoke = (token: string, client_id = signedIn.clientId) =>
        sendForm(service.client, '/oauth/revoke', { token, client_id });
      assert.equal((await revoke(body.access_token, await newClientId(service.client))).status, 200);
      assert.equal((await callTool(service.client, body.access_token)).status, 200);
      assert.equal((await revoke('unknown')).status, 200);
      assert.equal((await revoke(body.access_token)).status, 200);
      await untilRefused(() => callTool(service.client, body.access_token));
      assert.equal((await callTool(service.client, signedIn.access_token)).status, 200);
      assert.equal((await revoke(body.refresh_token)).status, 200);
      await untilRefused(() => callTool(service.client, signedIn.access_token));
      assertOAuthError(await refresh(service.client, signedIn), 400, 'invalid_grant');
    });

    it('ends with the key that it was made with, and with its agent', async () => {
      const one = await signIn(service.client);
      await service.client.with({ 'x-api-key': one.key }).post('/v1/auth/revoke');
      await untilRefused(() => callTool(service.client, one.access_token));
      assertOAuthError(await refresh(service.client, one), 400, 'invalid_grant');
      const kept = await signIn(service.client);
      await service.client.with({ 'x-api-key': kept.key }).post('/v1/auth/rotate');
      assert.equal((await refresh(service.client, kept)).status, 200);
      const administrator = await service.newAdministrator();
      const { body } = await service.client.with({ 'x-api-key': kept.key }).get('/v1/agents/me');
      assert.equal((await administrator.delete(`/v1/admin/agents/${body.agent.id}`)).status, 204);
      await untilRefused(() => callTool(service.client, kept.access_token));
    });
  });
}

describe('the quota of the agent', () => {
  const service = useTestService({ RATE_LIMIT_READWRITE: '4' });

  it('counts the sign-in and refreshes, which lose nothing when it is used up', async () => {
    const signedIn = await signIn(service.client);
    let last = signedIn;
    for (let count = 0; count < 3; count++) {
      const { status, body } = await refresh(service.client, last);
      assert.equal(status, 200);
      last = { ...signedIn, ...body };
    }
    const refused = await refresh(service.client, last);
    assertOAuthError(refused, 429, 'temporarily_unavailable');
    const shown = await service.client.send('GET', authorizePath(signedIn.clientId, newVerifier()));
    const another = await answerPage(service.client, shown, {
      agent: 'own',
      key: signedIn.key,
      scope: 'read',
    });
    assert.equal(another.status, 429);
    assert.ok(another.headers.has('retry-after'));
    service.clock.advance(HOUR_MS);
    assert.equal((await refresh(service.client, last)).status, 200);
  });
});
