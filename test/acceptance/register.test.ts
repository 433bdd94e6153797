// POST /v1/auth/register: who may have a key, and what the response contains.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Agent, administrator, anyone, RUN, reader, register } from './client.ts';
import { TEXT_SAMPLES } from './field-rules.ts';
import { assertError, assertInvalid } from './samples.ts';

const PATH = '/v1/auth/register';
const email = (name: string) => `${name}@${RUN}.example.com`;

describe('POST /v1/auth/register', () => {
  describe('200', () => {
    it('returns the key, its prefix, the tier, the quota and the time, and nothing else', async () => {
      const { status, body } = await register({ email: email('shape'), agent_name: 'a' });
      assert.equal(status, 200);
      assert.deepEqual(
        Object.keys(body).sort(),
        ['api_key', 'created_at', 'key_prefix', 'rate_limit', 'tier'].sort(),
      );
      assert.equal(body.key_prefix, body.api_key.slice(0, 8));
      assert.equal(body.tier, 'readwrite');
      assert.equal(body.rate_limit, 10_000);
      const ageMs = Date.now() - Date.parse(body.created_at);
      assert.ok(Math.abs(ageMs) < 300_000, body.created_at);
    });

    it('makes keys of lev_, 32 random characters and a checksum of 6', async () => {
      const keys = await Promise.all(
        Array.from({ length: 5 }, async (_, number) => {
          const { body } = await register({ email: email(`form${number}`), agent_name: 'a' });
          assert.match(body.api_key, /^lev_[0-9A-Za-z]{32}[0-9A-Za-z]{6}$/);
          return body.api_key;
        }),
      );
      assert.equal(new Set(keys).size, keys.length);
    });

    it('returns a key that works at once', async () => {
      const { body } = await register({ email: email('works'), agent_name: 'a' });
      const page = await new Agent(email('works'), body.api_key).nearby({ limit: 1 });
      assert.equal(typeof page.total, 'number');
    });

    it('needs no key and ignores one', async () => {
      const body = { email: email('keyless'), agent_name: 'a' };
      assert.equal((await register(body, { 'x-api-key': 'nonsense' })).status, 200);
    });

    it('registers any number of agents under one e-mail address', async () => {
      const body = { email: email('twice'), agent_name: 'a' };
      const [first, second] = [await register(body), await register(body)];
      assert.notEqual(first.body.api_key, second.body.api_key);
      const { agents } = (await administrator.get('/v1/admin/agents')).body;
      const found = agents.filter((agent: { email: string }) => agent.email === body.email);
      assert.equal(new Set(found.map((agent: { id: string }) => agent.id)).size, 2);
    });

    it('ignores unknown fields, so that nobody chooses a tier or a key', async () => {
      const sent = { tier: 'admin', rate_limit: 0, api_key: 'mine', is_active: false, id: 'x' };
      const { status, body } = await register({ email: email('extra'), agent_name: 'a', ...sent });
      assert.equal(status, 200);
      assert.equal(body.tier, 'readwrite');
      assert.equal(body.rate_limit, 10_000);
      assert.notEqual(body.api_key, 'mine');
      const summary = await new Agent(email('extra'), body.api_key).findSummary();
      assert.equal(summary.is_active, true);
      assert.equal(summary.tier, 'readwrite');
    });

    const names: [name: string, agentName: string][] = [
      ['1 character', 'a'],
      ['200 characters', 'n'.repeat(200)],
      ['200 characters outside the basic plane', '🎪'.repeat(200)],
      ['spaces, a tab and a line end', '  a\tb\n '],
      ['letters of any script', 'Жизнь 生活 حياة é é'],
      ...TEXT_SAMPLES,
    ];
    for (const [name, agent_name] of names) {
      it(`keeps an agent_name with ${name}`, async () => {
        const address = email(`name${names.findIndex(([other]) => other === name)}`);
        const { status, body, text } = await register({ email: address, agent_name });
        assert.equal(status, 200, text);
        assert.equal((await new Agent(address, body.api_key).findSummary()).agent_name, agent_name);
      });
    }

    const domain = `${RUN}.example.com`;
    const longest = `${'l'.repeat(64)}@${'d'.repeat(63)}.${'d'.repeat(63)}.${'d'.repeat(60 - domain.length)}.${domain}`;
    const addresses: [name: string, address: string][] = [
      ['a plus sign', `a+b@${domain}`],
      ['dots and capitals', `First.Last@${domain}`],
      ['an apostrophe', `o'brien@${domain}`],
      ['254 characters', longest],
    ];
    for (const [name, address] of addresses) {
      it(`takes an e-mail address with ${name}`, async () => {
        if (address === longest) assert.equal(address.length, 254);
        const { status, body, text } = await register({ email: address, agent_name: 'a' });
        assert.equal(status, 200, text);
        assert.equal((await new Agent(address, body.api_key).findSummary()).email, address);
      });
    }
  });

  describe('the key', () => {
    it('is in no later response', async () => {
      const address = email('once');
      const { api_key } = (await register({ email: address, agent_name: 'a' })).body;
      const agent = new Agent(address, api_key);
      const id = await agent.id();
      const answers = [
        await administrator.get('/v1/admin/agents'),
        await administrator.get(`/v1/admin/agents/${id}/events`),
        await administrator.patch(`/v1/admin/agents/${id}`, {}),
        await agent.get('/v1/events/nearby', { lat: 0, lng: 0, limit: 1 }),
        await anyone.get(`/v1/events/${api_key}`),
        await reader.get(`/v1/events/${api_key}`),
      ];
      for (const { text } of answers) assert.ok(!text.includes(api_key.slice(8)), text);
    });
  });

  describe('422', () => {
    const valid = { email: `nobody@${RUN}.example.com`, agent_name: 'a' };
    const cases: [name: string, body: unknown, issues: string[]][] = [
      ['no fields at all', {}, ['body.email: missing', 'body.agent_name: missing']],
      ['no e-mail', { agent_name: 'a' }, ['body.email: missing']],
      ['no agent_name', { email: valid.email }, ['body.agent_name: missing']],
      [
        'null',
        { email: null, agent_name: null },
        ['body.email: string_type', 'body.agent_name: string_type'],
      ],
      ['numbers', { email: 1, agent_name: 2 }, ['body.email: string_type', 'body.agent_name: string_type']],
      ['lists', { email: [], agent_name: [] }, ['body.email: string_type', 'body.agent_name: string_type']],
      ['an empty agent_name', { ...valid, agent_name: '' }, ['body.agent_name: string_too_short']],
      [
        'an agent_name of 201 characters',
        { ...valid, agent_name: 'n'.repeat(201) },
        ['body.agent_name: string_too_long'],
      ],
      [
        'an agent_name of 201 characters outside the basic plane',
        { ...valid, agent_name: '🎪'.repeat(201) },
        ['body.agent_name: string_too_long'],
      ],
      ['NUL in agent_name', { ...valid, agent_name: 'a\0b' }, ['body.agent_name: string_unicode']],
      [
        'a lone surrogate in agent_name',
        { ...valid, agent_name: '\ud800' },
        ['body.agent_name: string_unicode'],
      ],
      ['NUL in the e-mail', { ...valid, email: 'a\0@example.com' }, ['body.email: string_unicode']],
      ['an empty e-mail', { ...valid, email: '' }, ['body.email']],
      ['an e-mail without @', { ...valid, email: 'nobody.example.com' }, ['body.email: value_error']],
      ['an e-mail without a name', { ...valid, email: '@example.com' }, ['body.email: value_error']],
      ['an e-mail without a domain', { ...valid, email: 'nobody@' }, ['body.email: value_error']],
      ['an e-mail with two @', { ...valid, email: 'a@b@example.com' }, ['body.email: value_error']],
      ['an e-mail with a space', { ...valid, email: 'no body@example.com' }, ['body.email: value_error']],
      ['an e-mail with an empty label', { ...valid, email: 'a@example..com' }, ['body.email: value_error']],
      [
        'an e-mail of 255 characters',
        { ...valid, email: `${'l'.repeat(64)}@${'d'.repeat(63)}.${'d'.repeat(63)}.${'d'.repeat(58)}.com` },
        ['body.email: string_too_long'],
      ],
      ['a list as the body', [valid], ['body']],
      ['a string as the body', 'a', ['body']],
      ['null as the body', null, ['body']],
    ];
    for (const [name, body, issues] of cases) {
      it(`refuses ${name}`, async () => {
        if (name.includes('255')) assert.equal((body as typeof valid).email.length, 255);
        assertInvalid(await register(body), issues);
      });
    }

    it('refuses a request without a body', async () => {
      assertInvalid(await anyone.send('POST', PATH), ['body: missing']);
      const headers = { 'content-type': 'application/json' };
      assertInvalid(await anyone.send('POST', PATH, { headers }), ['body: missing']);
    });

    it('names every failing field in its message too', async () => {
      const answer = await register({});
      assertError(answer, 422, 'VALIDATION_ERROR');
      assert.match(answer.body.error.message, /email.*agent_name/);
    });
  });
});
