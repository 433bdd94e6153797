// Who may call what: every route of /openapi.json against every kind of credential, also with PUBLIC_READ. A new route fails here until ROUTES
// names its kind of access. A refused request must change nothing.
import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { readConfig } from '../../src/config.ts';
import type { Session } from '../../src/domain/administration/session.ts';
import { newApiKey } from '../../src/domain/api-key.ts';
import { getSigningKey } from '../../src/engines.ts';
import { mintToken } from '../../src/oidc/local-issuer.ts';
import { sessionSeal } from '../../src/oidc/seal.ts';
import { systemRandom } from '../../src/system.ts';
import { type Answer, assertError, type Client, newEvent } from '../support/client.ts';
import { OWN_PAGE } from '../support/console-browser.ts';
import { insertGrant } from '../support/grants.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { size } from '../support/sizes.ts';
import { CLIENT_ID, startTinyIssuer } from '../support/tiny-issuer.ts';

type Access = 'open' | 'look' | 'read' | 'speak' | 'create' | 'change' | 'administer';

/** Kind of access and success status of every route. */
const ROUTES: Record<string, readonly [Access, number]> = {
  'GET /health': ['open', 200],
  'GET /live': ['open', 200],
  'GET /ready': ['open', 200],
  'POST /v1/auth/register': ['open', 200],
  'POST /v1/auth/rotate': ['read', 200],
  'POST /v1/auth/revoke': ['read', 204],
  'GET /v1/agents/me': ['read', 200],
  'GET /v1/agents/me/events': ['read', 200],
  'GET /v1/agents/me/grants': ['read', 200],
  'DELETE /v1/agents/me/grants': ['read', 204],
  'DELETE /v1/agents/me/grants/{grant_id}': ['read', 204],
  'GET /v1/events/nearby': ['look', 200],
  'GET /v1/events/{event_id}': ['look', 200],
  'GET /v1/places': ['look', 200],
  'POST /mcp': ['speak', 200],
  'POST /v1/events': ['create', 200],
  'PATCH /v1/events/{event_id}': ['change', 200],
  'DELETE /v1/events/{event_id}': ['change', 204],
  'GET /v1/admin/me': ['administer', 200],
  'GET /v1/admin/stats': ['administer', 200],
  'GET /v1/admin/activity': ['administer', 200],
  'GET /v1/admin/agents': ['administer', 200],
  'GET /v1/admin/agents/{agent_id}': ['administer', 200],
  'PATCH /v1/admin/agents/{agent_id}': ['administer', 200],
  'DELETE /v1/admin/agents/{agent_id}': ['administer', 204],
  'POST /v1/admin/agents/{agent_id}/keys': ['administer', 200],
  'DELETE /v1/admin/agents/{agent_id}/keys/{key_prefix}': ['administer', 204],
  'GET /v1/admin/agents/{agent_id}/grants': ['administer', 200],
  'DELETE /v1/admin/agents/{agent_id}/grants/{grant_id}': ['administer', 204],
  'GET /v1/admin/agents/{agent_id}/events': ['administer', 200],
  'DELETE /v1/admin/agents/{agent_id}/events': ['administer', 204],
  'POST /v1/admin/agents/{agent_id}/events/delete': ['administer', 200],
  'POST /v1/admin/events/delete': ['administer', 200],
  'GET /v1/admin/events': ['administer', 200],
  'GET /v1/admin/events/{event_id}': ['administer', 200],
  'DELETE /v1/admin/events/{event_id}': ['administer', 204],
  'GET /v1/admin/audit': ['administer', 200],
  'POST /v1/admin/audit/{audit_id}/restore': ['administer', 200],
};

/** Expected result of a caller for each kind of access; open routes accept everybody. `ok`: the success status of the route. */
type Rule = Readonly<Record<Exclude<Access, 'open' | 'look' | 'speak'>, string>>;
const rule = (read: string, create: string, change: string, administer: string): Rule => ({
  read,
  create,
  change,
  administer,
});
const NO_KEY = '401 MISSING_API_KEY';
const BAD_KEY = '401 INVALID_API_KEY';
const NO_TOKEN = '401 MISSING_TOKEN';
const BAD_TOKEN = '401 INVALID_TOKEN';
const RULES: Record<string, Rule> = {
  'no key': rule(NO_KEY, NO_KEY, NO_KEY, NO_TOKEN),
  'an empty key': rule(NO_KEY, NO_KEY, NO_KEY, NO_TOKEN),
  'a key that was never issued': rule(BAD_KEY, BAD_KEY, BAD_KEY, NO_TOKEN),
  'a mistyped key': rule(BAD_KEY, BAD_KEY, BAD_KEY, NO_TOKEN),
  'a key in the other case': rule(BAD_KEY, BAD_KEY, BAD_KEY, NO_TOKEN),
  'two keys': rule(BAD_KEY, BAD_KEY, BAD_KEY, NO_TOKEN),
  'a prefix of a key': rule(BAD_KEY, BAD_KEY, BAD_KEY, NO_TOKEN),
  'the tier read, owner': rule('ok', '403 INSUFFICIENT_TIER', '403 INSUFFICIENT_TIER', NO_TOKEN),
  'the tier readwrite, owner': rule('ok', 'ok', 'ok', NO_TOKEN),
  'the tier admin, owner': rule('ok', 'ok', 'ok', NO_TOKEN),
  'the tier readwrite, not owner': rule('ok', 'ok', '404 NOT_FOUND', NO_TOKEN),
  'the tier admin, not owner': rule('ok', 'ok', '404 NOT_FOUND', NO_TOKEN),
  'a deactivated agent, owner': rule(BAD_KEY, BAD_KEY, BAD_KEY, NO_TOKEN),
  'a key that was revoked, owner': rule(BAD_KEY, BAD_KEY, BAD_KEY, NO_TOKEN),
  'a key that was replaced, owner': rule(BAD_KEY, BAD_KEY, BAD_KEY, NO_TOKEN),
  'a replaced key after its overlap, owner': rule(BAD_KEY, BAD_KEY, BAD_KEY, NO_TOKEN),
  'a replaced key within its overlap, owner': rule('ok', 'ok', 'ok', NO_TOKEN),
  'a new key in place of another, owner': rule('ok', 'ok', 'ok', NO_TOKEN),
  'a deleted agent': rule(BAD_KEY, BAD_KEY, BAD_KEY, NO_TOKEN),
  'a token of an administrator': rule(NO_KEY, NO_KEY, NO_KEY, 'ok'),
  'a token and a key': rule('ok', 'ok', 'ok', 'ok'),
  'an expired token': rule(NO_KEY, NO_KEY, NO_KEY, BAD_TOKEN),
  'a token of somebody else': rule(NO_KEY, NO_KEY, NO_KEY, '403 NOT_AN_ADMIN'),
  'a token of an issuer that is not ours': rule(NO_KEY, NO_KEY, NO_KEY, BAD_TOKEN),
  'a key as a token': rule(NO_KEY, NO_KEY, NO_KEY, BAD_TOKEN),
  'a token as a key': rule(BAD_KEY, BAD_KEY, BAD_KEY, NO_TOKEN),
  'a token with another scheme': rule(NO_KEY, NO_KEY, NO_KEY, NO_TOKEN),
  'a bearer without a token': rule(NO_KEY, NO_KEY, NO_KEY, NO_TOKEN),
  'a session': rule(NO_KEY, NO_KEY, NO_KEY, 'ok'),
  'a session and a key': rule('ok', 'ok', 'ok', 'ok'),
  'a session, for a page of another site': rule(NO_KEY, NO_KEY, NO_KEY, NO_TOKEN),
  'a session and an expired token': rule(NO_KEY, NO_KEY, NO_KEY, BAD_TOKEN),
  'a session and a bearer without a token': rule(NO_KEY, NO_KEY, NO_KEY, NO_TOKEN),
  'an expired session': rule(NO_KEY, NO_KEY, NO_KEY, BAD_TOKEN),
  'a session that was ended': rule(NO_KEY, NO_KEY, NO_KEY, BAD_TOKEN),
  'a session of another secret': rule(NO_KEY, NO_KEY, NO_KEY, BAD_TOKEN),
  'a session of another issuer': rule(NO_KEY, NO_KEY, NO_KEY, BAD_TOKEN),
  'a session as a token': rule(NO_KEY, NO_KEY, NO_KEY, BAD_TOKEN),
  'a token as a session': rule(NO_KEY, NO_KEY, NO_KEY, BAD_TOKEN),
  'a session of somebody else': rule(NO_KEY, NO_KEY, NO_KEY, '403 NOT_AN_ADMIN'),
};

/** Rules for `speak` (POST /mcp) that differ from `read`: there a bearer token is read as a key. */
const SPEAK_RULES: Record<string, string> = {
  'a key as a token': 'ok',
  'a token of an administrator': BAD_KEY,
  'an expired token': BAD_KEY,
  'a token of somebody else': BAD_KEY,
  'a token of an issuer that is not ours': BAD_KEY,
  'a session and an expired token': BAD_KEY,
  'a session as a token': BAD_KEY,
};

/** `look` (public reading) differs from `read` only for callers that send no key at all. */
function ruleFor(name: string, access: Access, readsPublicly: boolean): string {
  if (access === 'open') return 'ok';
  if (access === 'look') {
    const { read } = RULES[name]!;
    return readsPublicly && read === NO_KEY && name !== 'an empty key' ? 'ok' : read;
  }
  return access === 'speak' ? (SPEAK_RULES[name] ?? RULES[name]!.read) : RULES[name]![access];
}

/** Request bodies, by the start of `METHOD path`. */
const BODIES: Record<string, () => object> = {
  'POST /v1/auth/register': () => ({ email: 'new@example.com', agent_name: 'new' }),
  'POST /v1/auth/rotate': () => LONG_OVERLAP,
  'POST /v1/events': () => newEvent(),
  'POST /mcp': () => ({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  'PATCH /v1/events/': () => ({ title: `changed ${Math.random()}` }),
  'POST /v1/admin/events/delete': () => ({ event_ids: ['01ARYZ6S41TSV4RRFFQ69G5FAV'] }),
  'POST /v1/admin/agents/': () => ({ event_ids: ['01ARYZ6S41TSV4RRFFQ69G5FAV'] }),
  'POST /v1/admin/events/': () => ({ event_ids: ['01ARYZ6S41TSV4RRFFQ69G5FAV'] }),
  'PATCH /v1/admin/agents/': () => ({ tier: 'admin', is_active: true }),
};

/** Long enough for the caller to keep using its old key. */
const LONG_OVERLAP = { overlap_seconds: 86_400 };

const CLAIMS = { email: 'admin@example.com', name: undefined, hours: 1 };
const HOUR_MS = 3_600_000;

/** Tokens, named by what they are to the service under test; `other` is valid, but its owner is no administrator. */
interface Tokens {
  readonly good: string;
  readonly expired: string;
  readonly foreign: string;
  readonly other?: string;
}

const SECRET = 'the secret of the sessions of this test';

/** Sessions, named by what they are to the service under test; `other` is valid, but its owner is no administrator. */
interface Sessions {
  readonly good: string;
  readonly expired: string;
  readonly ended: string;
  readonly ofOtherSecret: string;
  readonly ofOtherIssuer: string;
  readonly other?: string;
}

async function sealSessions(binding: readonly string[]): Promise<Sessions> {
  const identity = {
    ...{ subject: 'ada', email: CLAIMS.email, emailVerified: true, hostedDomain: undefined },
    ...{ name: undefined, picture: undefined, local: binding.length === 0 },
  };
  const session = { id: 'one', identity, expiresMs: Date.now() + HOUR_MS };
  const sealWith = async (secret: string, bound: readonly string[], changed: Partial<Session> = {}) => {
    const { seal } = await sessionSeal({ secret, binding: bound, clock: Date.now });
    return (await seal({ ...session, ...changed }))!;
  };
  const stranger = { identity: { ...identity, email: 'somebody@example.com' } };
  return {
    good: await sealWith(SECRET, binding),
    expired: await sealWith(SECRET, binding, { expiresMs: Date.now() - 1_000 }),
    ended: await sealWith(SECRET, binding, { id: 'two' }),
    ofOtherSecret: await sealWith(`${SECRET}!`, binding),
    ofOtherIssuer: await sealWith(SECRET, ['https://elsewhere.example', CLIENT_ID]),
    ...(!identity.local && { other: await sealWith(SECRET, binding, stranger) }),
  };
}

const issuer = await startTinyIssuer();
after(() => issuer.close());
await describeMatrix(
  'with an identity provider',
  { OIDC_ISSUER: issuer.url, OIDC_CLIENT_ID: CLIENT_ID, ADMIN_EMAILS: CLAIMS.email },
  async (signingKey) => ({
    good: await issuer.mint(CLAIMS.email),
    expired: await issuer.mint(CLAIMS.email, -60),
    foreign: await mintToken(signingKey, CLAIMS, Date.now()),
    other: await issuer.mint('somebody@example.com'),
  }),
);
await describeMatrix(
  'without an identity provider: any token that it minted is authorised',
  {},
  async (signingKey) => ({
    good: await mintToken(signingKey, CLAIMS, Date.now()),
    expired: await mintToken(signingKey, CLAIMS, Date.now() - HOUR_MS - 60_000),
    foreign: await issuer.mint(CLAIMS.email),
  }),
);
await describeMatrix('with public reading', { PUBLIC_READ: 'on' }, async (signingKey) => ({
  good: await mintToken(signingKey, CLAIMS, Date.now()),
  expired: await mintToken(signingKey, CLAIMS, Date.now() - HOUR_MS - 60_000),
  foreign: await issuer.mint(CLAIMS.email),
}));

/** Returns the ID of the entry in the audit log. */
async function deleteAnEvent(client: Client, administrator: Client): Promise<string> {
  const { event_id } = await (await client.register('owner')).create();
  assert.equal((await administrator.delete(`/v1/admin/events/${event_id}`)).status, 204);
  return (await administrator.get('/v1/admin/audit', { limit: 1 })).body.entries[0].id;
}

/** Operations of the OpenAPI document. */
type Items = Record<string, Record<string, { security: object[] }>>;

async function describeMatrix(
  title: string,
  env: Record<string, string>,
  mintTokens: (signingKey: string) => Promise<Tokens>,
): Promise<void> {
  const folder = temporaryFolder();
  const tokens = await mintTokens(await getSigningKey(readConfig({ DATA_DIR: folder })));
  const service = await startTestService({ ...env, DATA_DIR: folder, SESSION_SECRET: SECRET });
  const administrator = service.client.with({ authorization: `Bearer ${tokens.good}` });
  const sessions = await sealSessions(env.OIDC_ISSUER ? [env.OIDC_ISSUER, CLIENT_ID] : []);
  const callers = await makeCallers(service, administrator, tokens, sessions);
  const { paths, components } = (await service.client.get('/openapi.json')).body as {
    paths: Items;
    components: { pathItems: Items };
  };
  const beside = Object.entries(components.pathItems).map(([name, item]) => [`/${name}`, item] as const);
  const described = [...Object.entries(paths), ...beside].flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([name]) => name !== 'parameters')
      .map(([method, { security }]) => ({
        route: `${method.toUpperCase()} ${path}`,
        security: security.map((scheme) => Object.keys(scheme).join() || 'none').join(),
      })),
  );

  const readsPublicly = env.PUBLIC_READ === 'on';
  // A short run has each route only where it differs: a provider makes no difference to agents.
  const isDue = ([, [access]]: [string, readonly [Access, number]]) =>
    size(readsPublicly ? access === 'look' : env.OIDC_ISSUER !== undefined || access === 'administer', true);

  describe(title, () => {
    after(() => service.close());

    it('has an expectation for every route, and describes its credentials', () => {
      assert.deepEqual(described.map(({ route }) => route).sort(), Object.keys(ROUTES).sort());
      for (const { route, security } of described) {
        const [access] = ROUTES[route]!;
        const schemes: Partial<Record<Access, string>> = {
          open: '',
          administer: 'AdminToken,AdminSession',
          speak: 'ApiKey,KeyAsBearer',
          ...(readsPublicly && { look: 'ApiKey,none' }),
        };
        assert.equal(security, schemes[access] ?? 'ApiKey', route);
      }
    });

    for (const [route, [access, success]] of Object.entries(ROUTES).filter(isDue)) {
      it(`${route} accepts and refuses each kind of caller as listed`, async () => {
        const method = route.split(' ')[0]!;
        const path = route.slice(method.length + 1);
        const spare = await (await service.client.register('target')).create();
        const auditId = await deleteAnEvent(service.client, administrator);
        const failures: string[] = [];
        const grants = new Map<string, string>(); // of agents of refused requests
        const findGrant = async (client: Client, target: Target, path: string, code: string | undefined) => {
          if (code) {
            const found = grants.get(target.agent_id) ?? insertGrant(service.folder, target.agent_id);
            grants.set(target.agent_id, found);
            return found;
          }
          const isOwn = path.startsWith('/v1/agents/me');
          const owner = isOwn ? (await client.get('/v1/agents/me')).body.agent.id : target.agent_id;
          return insertGrant(service.folder, owner);
        };
        const untouched = new Map<string, object>(); // agents of refused requests, as they were before the first
        for (const [name, caller] of Object.entries(callers)) {
          const wanted = ruleFor(name, access, readsPublicly);
          const [status, code] = wanted === 'ok' ? [success] : [Number(wanted.slice(0, 3)), wanted.slice(4)];
          const isChanged = !code && method !== 'GET';
          const target = await findTarget(service.client, caller, path, isChanged ? undefined : spare);
          const address = path
            .replace('{event_id}', target.event_id)
            .replace('{agent_id}', target.agent_id)
            .replace('{audit_id}', auditId)
            .replace(
              '{key_prefix}',
              path.endsWith('{key_prefix}') ? await findPrefix(administrator, target) : '',
            )
            .replace(
              '{grant_id}',
              path.endsWith('{grant_id}') ? await findGrant(caller.client, target, path, code) : '',
            );
          if (method !== 'GET' && code && !untouched.has(target.agent_id))
            untouched.set(target.agent_id, await observe(administrator, target.agent_id));
          const client =
            isChanged && path.endsWith('/revoke') ? await withNewKey(caller.client) : caller.client;
          try {
            assertAnswer(await send(client, method, address), status!, code);
            if (method === 'GET') assert.equal((await send(caller.client, 'HEAD', address)).status, status);
          } catch (error) {
            failures.push(`${route} must answer ${wanted} to ${name}: ${(error as Error).message}`);
          }
        }
        assert.deepEqual(failures, []);
        for (const [agentId, before] of untouched)
          assert.deepEqual(
            await observe(administrator, agentId),
            before,
            'a refused request changes something',
          );
      });
    }
  });
}

function assertAnswer(answer: Answer, status: number, code: string | undefined): void {
  if (code) assertError(answer, status, code);
  else assert.equal(answer.status, status, answer.text);
  const challenge = answer.headers.get('www-authenticate');
  if (status === 401) assert.match(challenge!, code!.endsWith('TOKEN') ? /^Bearer / : /^ApiKey /);
  else assert.equal(challenge, null);
}

/** Sends a valid request, with a body and a query if the route needs them. */
function send(client: Client, method: string, address: string): Promise<Answer> {
  const [, body] = address.endsWith('/keys')
    ? []
    : (Object.entries(BODIES).find(([route]) => `${method} ${address}`.startsWith(route)) ?? []);
  const query = address.endsWith('/nearby') ? '?lat=0&lng=0' : address.endsWith('/places') ? '?q=Bern' : '';
  const headers = address === '/mcp' ? { accept: 'application/json, text/event-stream' } : {};
  return client.send(method, address + query, body ? { body: body(), headers } : {});
}

/** The same caller with a second key that it can afford to lose. */
async function withNewKey(client: Client): Promise<Client> {
  const { api_key } = (await client.post('/v1/auth/rotate', LONG_OVERLAP)).body;
  return client.with({ 'x-api-key': api_key });
}

interface Target {
  readonly event_id: string;
  readonly agent_id: string;
}

/** An event of the caller if it has any, else the spare one or one of a new agent; for administrators never their own. */
async function findTarget(
  client: Client,
  caller: Caller,
  path: string,
  spare: Target | undefined,
): Promise<Target> {
  if (caller.owned && !path.startsWith('/v1/admin')) return caller.owned.pop()!;
  return spare ?? (await client.register('target')).create();
}

/** Everything about the agent and its events that a refused request could have changed. */
async function observe(administrator: Client, agentId: string): Promise<object> {
  const { agent, events } = (await administrator.get(`/v1/admin/agents/${agentId}/events`)).body;
  const { keys } = (await administrator.get(`/v1/admin/agents/${agentId}`)).body;
  const { grants } = (await administrator.get(`/v1/admin/agents/${agentId}/grants`)).body;
  const kept = keys.map((key: object) => ({ ...key, last_used_at: undefined }));
  return { ...agent, last_used_at: undefined, keys: kept, grants, events };
}

/** The prefix of the agent's first key. */
async function findPrefix(administrator: Client, { agent_id }: Target): Promise<string> {
  return (await administrator.get(`/v1/admin/agents/${agent_id}`)).body.keys[0].prefix;
}

interface Caller {
  readonly client: Client;
  /** Its own events, one per route; undefined if it has none. */
  readonly owned?: Target[];
}

async function makeCallers(
  { client: anyone, clock }: TestService,
  administrator: Client,
  tokens: Tokens,
  sessions: Sessions,
) {
  const register = async () => {
    const { api_key } = (await anyone.post('/v1/auth/register', { email: 'a@b.co', agent_name: 'caller' }))
      .body;
    return { key: api_key as string, client: anyone.with({ 'x-api-key': api_key }) };
  };
  /** An agent with its own events; `change` is applied to the agent after they are created. */
  const agent = async (change: object) => {
    const { client } = await register();
    const owned = await Promise.all(Object.keys(ROUTES).map(() => client.create()));
    const answer = await administrator.patch(`/v1/admin/agents/${owned[0].agent_id}`, change);
    assert.equal(answer.status, 200, answer.text);
    return { client, owned };
  };
  const stranger = async (change: object): Promise<Caller> => ({ client: (await agent(change)).client });
  const sending = (headers: Record<string, string>): Caller => ({ client: anyone.with(headers) });
  const bearer = (token: string) => sending({ authorization: `Bearer ${token}` });
  const { key } = await register();
  const deleted = await agent({});
  await administrator.delete(`/v1/admin/agents/${deleted.owned[0].agent_id}`);
  const both = await agent({});
  const [revoked, replaced, late, early, renewed] = await Promise.all(
    Array.from({ length: 5 }, () => agent({})),
  );
  await revoked!.client.post('/v1/auth/revoke');
  await replaced!.client.post('/v1/auth/rotate', { overlap_seconds: 0 });
  await late!.client.post('/v1/auth/rotate', { overlap_seconds: 1 });
  clock.advance(1_000);
  await early!.client.post('/v1/auth/rotate', LONG_OVERLAP);
  const callers: Record<string, Caller> = {
    'no key': sending({}),
    'an empty key': sending({ 'x-api-key': '' }),
    'a key that was never issued': sending({ 'x-api-key': newApiKey(systemRandom) }),
    'a mistyped key': sending({
      'x-api-key': key.slice(0, 10) + (key[10] === 'x' ? 'y' : 'x') + key.slice(11),
    }),
    'a key in the other case': sending({ 'x-api-key': `LEV_${key.slice(4)}` }),
    'two keys': sending({ 'x-api-key': `${key}, ${key}` }),
    'a prefix of a key': sending({ 'x-api-key': key.slice(0, -1) }),
    'the tier read, owner': await agent({ tier: 'read' }),
    'the tier readwrite, owner': await agent({ tier: 'readwrite' }),
    'the tier admin, owner': await agent({ tier: 'admin' }),
    'the tier readwrite, not owner': await stranger({ tier: 'readwrite' }),
    'the tier admin, not owner': await stranger({ tier: 'admin' }),
    'a deactivated agent, owner': await agent({ is_active: false }),
    'a key that was revoked, owner': revoked!,
    'a key that was replaced, owner': replaced!,
    'a replaced key after its overlap, owner': late!,
    'a replaced key within its overlap, owner': early!,
    'a new key in place of another, owner': { ...renewed!, client: await withNewKey(renewed!.client) },
    'a deleted agent': { client: deleted.client },
    'a token of an administrator': bearer(tokens.good),
    'a token and a key': { ...both, client: both.client.with({ authorization: `bearer  ${tokens.good}` }) },
    'an expired token': bearer(tokens.expired),
    'a token of an issuer that is not ours': bearer(tokens.foreign),
    'a key as a token': bearer(key),
    'a token as a key': sending({ 'x-api-key': tokens.good }),
    'a token with another scheme': sending({ authorization: `Basic ${tokens.good}` }),
    'a bearer without a token': sending({ authorization: 'Bearer ' }),
  };
  if (tokens.other) callers['a token of somebody else'] = bearer(tokens.other);
  const inConsole = (sealed: string, headers: Record<string, string> = {}) =>
    sending({ cookie: `local_events_session=${sealed}`, ...OWN_PAGE, ...headers });
  const withKey = await agent({});
  await inConsole(sessions.ended).client.post('/admin/logout');
  Object.assign(callers, {
    'a session': inConsole(sessions.good),
    'a session and a key': {
      ...withKey,
      client: withKey.client.with({ cookie: `local_events_session=${sessions.good}`, ...OWN_PAGE }),
    },
    'a session, for a page of another site': inConsole(sessions.good, { 'sec-fetch-site': 'cross-site' }),
    'a session and an expired token': inConsole(sessions.good, { authorization: `Bearer ${tokens.expired}` }),
    'a session and a bearer without a token': inConsole(sessions.good, { authorization: 'Bearer ' }),
    'an expired session': inConsole(sessions.expired),
    'a session that was ended': inConsole(sessions.ended),
    'a session of another secret': inConsole(sessions.ofOtherSecret),
    'a session of another issuer': inConsole(sessions.ofOtherIssuer),
    'a session as a token': bearer(sessions.good),
    'a token as a session': inConsole(tokens.good),
  });
  if (sessions.other) callers['a session of somebody else'] = inConsole(sessions.other);
  return callers;
}
