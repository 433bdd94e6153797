// Which texts are e-mail addresses, who may write, and how the last use is shown. The other rules about agents are in test/acceptance/.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mayWrite, readRegistration, summarise, TIERS } from '../../src/domain/agent.ts';
import { refusals } from './refusals.ts';

const BODY = { email: 'agent@example.com', agent_name: 'City guide' };
const refused = (fields: object) => refusals(() => readRegistration({ ...BODY, ...fields }));

describe('mayWrite', () => {
  it('is true for readwrite and admin', () => {
    assert.deepEqual([...TIERS], ['read', 'readwrite', 'admin']);
    assert.deepEqual(TIERS.filter(mayWrite), ['readwrite', 'admin']);
  });
});

describe('the e-mail of a registration', () => {
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

  it('shows the last use of the agent, even at time 0', () => {
    assert.equal(summarise({ ...agent, last_used_ms: 0 }).last_used_at, '1970-01-01T00:00:00.000Z');
  });
});
