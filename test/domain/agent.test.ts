// Agents: valid registrations and changes by an administrator, and how an agent is shown.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mayWrite, readAgentUpdate, readRegistration, summarise, TIERS } from '../../src/domain/agent.ts';
import { refusals } from './refusals.ts';

const BODY = { email: 'agent@example.com', agent_name: 'City guide' };
const refused = (fields: object) => refusals(() => readRegistration({ ...BODY, ...fields }));

describe('mayWrite', () => {
  it('is true for readwrite and admin', () => {
    assert.deepEqual([...TIERS], ['read', 'readwrite', 'admin']);
    assert.deepEqual(TIERS.filter(mayWrite), ['readwrite', 'admin']);
  });
});

describe('readRegistration', () => {
  it('accepts an e-mail and a name unchanged, and nothing else', () => {
    const body = { email: 'Agent@Example.COM', agent_name: '  City guide ' };
    assert.deepEqual(readRegistration({ ...body, tier: 'admin', rate_limit: 0, is_active: false }), body);
  });

  const addresses = [
    'a@example.com',
    'first.last+tag@sub.example.co.uk',
    "o'brien@example.com",
    '!#$%&*/=?^_`{|}~-@example.com',
    '1@1.example',
    'a@xn--bcher-kva.example',
    'jürgen@bücher.example',
    '用户@例子.测试',
    `${'a'.repeat(64)}@example.com`,
    `a@${'b'.repeat(63)}.example`,
  ];
  for (const email of addresses) {
    it(`accepts ${email}`, () => assert.deepEqual(refused({ email }), []));
  }

  const noAddresses = [
    '',
    ' ',
    'agent',
    'agent@',
    '@example.com',
    'agent@example',
    'agent.example.com',
    'a b@example.com',
    'a@exam ple.com',
    ' a@example.com',
    'a@example.com ',
    'a@example.com\n',
    'a\n@example.com',
    'a@b@example.com',
    'a@@example.com',
    'a@example..com',
    'a@.example.com',
    'a@example.com.',
    'a@-example.com',
    'a@example-.com',
    'a@exam_ple.com',
    'Ada <a@example.com>',
    'mailto:a@example.com',
    'a@example.com,b@example.com',
    'a@example.com;b@example.com',
    `${'a'.repeat(65)}@example.com`,
    `a@${'b'.repeat(64)}.example`,
  ];
  for (const email of noAddresses) {
    it(`refuses ${JSON.stringify(email)} as an e-mail`, () => {
      assert.deepEqual(refused({ email }), ['body.email: value_error']);
    });
  }

  it('accepts an e-mail of 254 characters and refuses one of 255', () => {
    const domain = `${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(57)}.example`;
    const email = `${'a'.repeat(254 - 1 - domain.length)}@${domain}`;
    assert.equal(email.length, 254);
    assert.deepEqual(refused({ email }), []);
    assert.deepEqual(refused({ email: `a${email}` }), ['body.email: string_too_long']);
  });

  it('accepts a name of 1 to 200 characters', () => {
    for (const agent_name of ['x', '😀'.repeat(200), ' ']) assert.deepEqual(refused({ agent_name }), []);
    assert.deepEqual(refused({ agent_name: '' }), ['body.agent_name: string_too_short']);
    assert.deepEqual(refused({ agent_name: '😀'.repeat(201) }), ['body.agent_name: string_too_long']);
  });

  it('names every failing field', () => {
    assert.deepEqual(
      refusals(() => readRegistration({})),
      ['body.email: missing', 'body.agent_name: missing'],
    );
    assert.deepEqual(refused({ email: null, agent_name: 5 }), [
      'body.email: string_type',
      'body.agent_name: string_type',
    ]);
    assert.deepEqual(refused({ email: 'a\0@example.com', agent_name: '\ud800' }), [
      'body.email: string_unicode',
      'body.agent_name: string_unicode',
    ]);
    assert.deepEqual(
      refusals(() => readRegistration(undefined)),
      ['body: missing'],
    );
  });
});

describe('readAgentUpdate', () => {
  it('accepts is_active, tier or both, and nothing else', () => {
    assert.deepEqual(readAgentUpdate({ is_active: false }), { is_active: false });
    assert.deepEqual(readAgentUpdate({ tier: 'read', email: 'other@example.com' }), { tier: 'read' });
    assert.deepEqual(readAgentUpdate({ is_active: true, tier: 'admin' }), { is_active: true, tier: 'admin' });
  });

  const table: [body: unknown, refused: string[]][] = [
    [{ is_active: null }, ['body.is_active: bool_type']],
    [{ is_active: 'true' }, ['body.is_active: bool_type']],
    [{ is_active: 0 }, ['body.is_active: bool_type']],
    [{ tier: null }, ['body.tier: string_type']],
    [{ tier: 'root' }, ['body.tier: enum']],
    [{ tier: 'Admin', is_active: 1 }, ['body.is_active: bool_type', 'body.tier: enum']],
    [undefined, ['body: missing']],
    [[], ['body: dict_type']],
  ];
  for (const [body, expected] of table) {
    it(`refuses ${JSON.stringify(body)}`, () =>
      assert.deepEqual(
        refusals(() => readAgentUpdate(body)),
        expected,
      ));
  }
});

describe('summarise', () => {
  const agent = {
    agent_id: '017f22e2-79b0-7cc3-98c4-dc0c0c07398f',
    ...BODY,
    tier: 'readwrite',
    is_active: true,
    created_ms: 1_000,
    last_used_ms: null,
    event_count: 3,
  } as const;

  it('has the fields of the interface', () => {
    assert.deepEqual(summarise(agent), {
      id: '017f22e2-79b0-7cc3-98c4-dc0c0c07398f',
      ...BODY,
      tier: 'readwrite',
      is_active: true,
      created_at: '1970-01-01T00:00:01.000Z',
      last_used_at: null,
      event_count: 3,
    });
  });

  it('shows the last use of the agent, even at time 0', () => {
    assert.equal(summarise({ ...agent, last_used_ms: 0 }).last_used_at, '1970-01-01T00:00:00.000Z');
  });
});
