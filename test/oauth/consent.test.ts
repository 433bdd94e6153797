// The page on which a person decides, as requests: what it says about the client, what it asks, what it registers, and what it remembers.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startTestService, useTestService } from '../support/service.ts';
import {
  answerPage,
  authorizePath,
  cookieOf,
  exchange,
  FROM_OUR_PAGE,
  newClientId,
  newVerifier,
  pageOf,
  redirectOf,
  sendForm,
} from './flow.ts';

describe('the page', () => {
  const service = useTestService();
  const show = async (metadata: object = {}, changes: Record<string, string> = {}, cookie?: string) => {
    const clientId = await newClientId(service.client, metadata);
    const client = cookie === undefined ? service.client : service.client.with({ cookie });
    const shown = await client.send('GET', authorizePath(clientId, newVerifier(), changes));
    assert.equal(shown.status, 200, shown.text);
    return shown;
  };
  const newKey = async () => (await service.client.register('Old friend')).headers['x-api-key']!;

  it('names the destination, which nobody can make up, above the name that the client gives itself', async () => {
    const site = await show(
      { client_name: 'Anthropic', redirect_uris: ['https://evil.example/callback'] },
      { redirect_uri: 'https://evil.example/callback' },
    );
    assert.match(site.text, /<p class="host">evil\.example<\/p>.*It calls itself “<bdi>Anthropic<\/bdi>”/);
    const punycode = await show(
      { redirect_uris: ['https://clаude.ai/'].map((uri) => new URL(uri).href) },
      { redirect_uri: new URL('https://clаude.ai/').href },
    );
    assert.match(punycode.text, /<p class="host">xn--clude-5ve\.ai<\/p>/);
    assert.match((await show()).text, /<p class="host">A program on this computer<\/p>/);
    const app = { redirect_uris: ['cursor://anysphere/callback'] };
    const shown = await show(app, { redirect_uri: 'cursor://anysphere/callback' });
    assert.match(shown.text, /<p class="host">An app: cursor:<\/p>/);
  });

  it('shows names as text, with invisible characters made visible', async () => {
    const shown = await show({ client_name: '<img src=x>\u202e\u200bmoc.elgoog API_KEY SEALED' });
    assert.match(shown.text, /“<bdi>&lt;img src=x&gt;��moc\.elgoog API_KEY SEALED<\/bdi>”/);
  });

  it('lets its form lead to the client and nowhere else, and cannot be framed', async () => {
    for (const [redirect_uri, source] of [
      ['https://client.example:8443/x', 'https://client.example:8443'],
      ['http://127.0.0.1:4711/x', 'http://127.0.0.1:4711'],
      ['http://localhost:4711/x', 'http://localhost:4711'],
      ['http://[::1]:4711/x', 'http:'],
      ['https://my_app.example/x', 'https:'],
      ['https://client.example./x', 'https:'],
      ['cursor://anysphere/x', 'cursor:'],
    ] as const) {
      const { headers } = await show({ redirect_uris: [redirect_uri] }, { redirect_uri });
      const policy = headers.get('content-security-policy')!;
      assert.match(policy, new RegExp(`form-action 'self' ${RegExp.escape(source)};`));
      assert.match(policy, /default-src 'none'.*frame-ancestors 'none'/);
      assert.equal(headers.get('cross-origin-opener-policy'), 'unsafe-none');
      assert.equal(headers.get('x-frame-options'), 'DENY');
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.equal(headers.get('access-control-allow-origin'), null);
    }
  });

  it('preselects no permission, and offers only what the client asked for', async () => {
    const both = await show();
    assert.doesNotMatch(both.text, /name="scope"[^>]*checked/);
    const reader = await show({}, { scope: 'read' });
    assert.match(reader.text, /<label class="choice option" hidden>.*value="publish"/);
  });

  it('keeps a state as long as a URL may be', async () => {
    const state = '\u0001'.repeat(2_500);
    const answer = await answerPage(service.client, await show({}, { state }), { action: 'deny' });
    assert.equal(redirectOf(answer).get('state'), state);
  });

  it('asks again for what is missing or wrong, with what was typed but the key', async () => {
    const shown = await show();
    const key = await newKey();
    for (const [fields, problem] of [
      [{ agent: 'own', key }, 'Choose what it may do.'],
      [{ agent: 'own', key: '', scope: 'read' }, 'Enter the key of your agent.'],
      [{ agent: 'own', key: 'lev_wrong', scope: 'read' }, 'This is not a key of this service.'],
      [{ agent: 'new', email: 'x', agent_name: 'y', scope: 'read' }, 'e-mail'],
      [{ agent: 'new', email: 'you@example.com', agent_name: '', scope: 'read' }, 'It '],
      [{ scope: 'read' }, 'Choose an agent.'],
      [{ agent: 'known', scope: 'read' }, 'Its key has ended.'],
    ] as const) {
      const again = await answerPage(service.client, shown, fields);
      assert.equal(again.status, 422, again.text);
      assert.match(again.text, new RegExp(`class="field-problem"[^>]*>[^<]*${RegExp.escape(problem)}`));
      if ('key' in fields && fields.key) assert.doesNotMatch(again.text, new RegExp(fields.key));
      if ('email' in fields) assert.match(again.text, new RegExp(`value="${fields.email}"`));
    }
  });

  it('registers a new agent, shows its key once, and continues to the client', async () => {
    const verifier = newVerifier();
    const clientId = await newClientId(service.client);
    const shown = await service.client.send('GET', authorizePath(clientId, verifier));
    const fields = { agent: 'new', email: 'new@example.com', agent_name: 'From the page', scope: 'read' };
    const registered = await answerPage(service.client, shown, fields);
    assert.equal(registered.status, 200, registered.text);
    assert.equal(registered.headers.get('cache-control'), 'no-store');
    const [, key] = /<code id="key">(lev_\w+)<\/code>/.exec(registered.text)!;
    const mine = await service.client.with({ 'x-api-key': key! }).get('/v1/agents/me');
    assert.equal(mine.body.agent.email, 'new@example.com');

    const repeated = await answerPage(service.client, shown, fields);
    assert.equal(repeated.status, 200);
    assert.doesNotMatch(repeated.text, /lev_\w{38}/);
    assert.match(repeated.text, /It cannot be shown again/);
    const administrator = await service.newAdministrator();
    const { body } = await administrator.get('/v1/admin/agents', { q: 'new@example.com' });
    assert.equal(body.total, 1);

    for (const page of [registered, repeated]) {
      const code = redirectOf(await answerPage(service.client, page, {})).get('code')!;
      const tokens = await exchange(service.client, { ...verifier, clientId, code, key: key! });
      assert.equal(tokens.body.scope, 'read');
    }
  });

  it('registers one agent if the button is clicked twice', async () => {
    const shown = await show();
    const fields = { agent: 'new', email: 'twice@example.com', agent_name: 'x', scope: 'read' };
    const answers = await Promise.all([1, 2, 3].map(() => answerPage(service.client, shown, fields)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    );
    assert.equal(answers.filter(({ text }) => /lev_\w{38}/.test(text)).length, 1);
    const administrator = await service.newAdministrator();
    assert.equal((await administrator.get('/v1/admin/agents', { q: 'twice@example.com' })).body.total, 1);
  });

  it('counts a new agent as a registration of the network', async (test) => {
    const limited = await startTestService({ REGISTRATIONS_PER_HOUR: '1' }, { until: test });
    const clientId = await newClientId(limited.client);
    const path = authorizePath(clientId, newVerifier());
    const fields = { agent: 'new', email: 'new@example.com', agent_name: 'x', scope: 'read' };
    const first = await answerPage(limited.client, await limited.client.send('GET', path), fields);
    assert.equal(first.status, 200);
    const second = await answerPage(limited.client, await limited.client.send('GET', path), fields);
    assert.equal(second.status, 429);
    assert.match(second.text, /quota of 1 per hour is used up/);
    assert.ok(second.headers.has('retry-after'));
  });

  it('limits how many wrong keys a network may try', async (test) => {
    const limited = await startTestService({ FAILED_REGISTRATIONS_PER_HOUR: '2' }, { until: test });
    const shown = await limited.client.send(
      'GET',
      authorizePath(await newClientId(limited.client), newVerifier()),
    );
    const answers = [];
    for (let count = 0; count < 3; count++)
      answers.push(
        await answerPage(limited.client, shown, { agent: 'own', key: 'lev_wrong', scope: 'read' }),
      );
    assert.deepEqual(
      answers.map(({ status }) => status),
      [422, 422, 429],
    );
  });

  it('is refused if another page sends the form, or none of ours made it, or it is older than ten minutes', async () => {
    const shown = await show();
    const fields = { page: pageOf(shown), action: 'allow', agent: 'own', key: await newKey(), scope: 'read' };
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      {},
    ] as Record<string, string>[]) {
      const refused = await sendForm(service.client, '/oauth/authorize', fields, headers);
      assert.equal(refused.status, 403, JSON.stringify(headers));
      assert.equal(refused.headers.get('location'), null);
    }
    const forged = await sendForm(
      service.client,
      '/oauth/authorize',
      { ...fields, page: 'forged' },
      FROM_OUR_PAGE,
    );
    assert.equal(forged.status, 400);
    service.clock.advance(600_001);
    const late = await sendForm(service.client, '/oauth/authorize', fields, FROM_OUR_PAGE);
    assert.match(late.text, /older than ten minutes/);
  });

  it('remembers the agent, asks for consent nevertheless, and forgets it when told to', async () => {
    const key = await newKey();
    const given = await answerPage(service.client, await show(), { agent: 'own', key, scope: 'read' });
    const cookie = cookieOf(given);
    assert.match(
      given.headers.get('set-cookie')!,
      /^local_events_agent=.*Max-Age=34560000; HttpOnly; SameSite=Lax$/,
    );
    const again = await show({}, {}, cookie);
    assert.match(again.text, /Continue as <strong><bdi>Old friend<\/bdi>/);
    assert.equal((await answerPage(service.client, again, { agent: 'known' }, cookie)).status, 422);
    redirectOf(await answerPage(service.client, again, { agent: 'known', scope: 'read' }, cookie));
    const forgotten = await answerPage(service.client, again, { action: 'forget' }, cookie);
    assert.match(forgotten.headers.get('set-cookie')!, /^local_events_agent=;.*Max-Age=0/);
    assert.match(forgotten.text, /<div class="option" hidden>/);

    await service.client.with({ 'x-api-key': key }).post('/v1/auth/revoke');
    const ended = await show({}, {}, cookie);
    assert.doesNotMatch(ended.text, /Old friend/);
    const stale = await answerPage(service.client, ended, { agent: 'known', scope: 'read' }, cookie);
    assert.equal(stale.status, 422);
  });

  it('sets a cookie that only this host can set, over https only, if it is reached by https', async (test) => {
    const PUBLIC_URL = 'https://events.example';
    const secure = await startTestService({ PUBLIC_URL }, { until: test });
    const clientId = await newClientId(secure.client);
    const shown = await secure.client.send('GET', authorizePath(clientId, newVerifier()));
    const key = (await secure.client.register()).headers['x-api-key']!;
    const given = await answerPage(secure.client, shown, { agent: 'own', key, scope: 'read' });
    assert.match(
      given.headers.get('set-cookie')!,
      /^__Host-local_events_agent=.*; Path=\/;.*HttpOnly; SameSite=Lax; Secure$/,
    );
    assert.equal(redirectOf(given).get('iss'), `${PUBLIC_URL}/oauth`);
  });

  it('stores nothing before somebody decides', async () => {
    const administrator = await service.newAdministrator();
    const before = (await administrator.get('/v1/admin/stats')).body.agents;
    const shown = await show();
    await answerPage(service.client, shown, { action: 'deny' });
    assert.equal((await administrator.get('/v1/admin/stats')).body.agents, before);
  });
});
