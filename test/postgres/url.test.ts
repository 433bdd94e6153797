// Database URLs with one or several hosts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addressesOf, describeAddress, hasPassword, withPassword } from '../../src/postgres/client/url.ts';

describe('a database URL', () => {
  const readable: [url: string, addresses: string[]][] = [
    ['postgres://a/events', ['postgres://a/events']],
    ['postgresql://u@a:5433/events', ['postgresql://u@a:5433/events']],
    ['postgres://a', ['postgres://a']],
    ['postgres://u:p@a:1,b:2,c/n', ['postgres://u:p@a:1/n', 'postgres://u:p@b:2/n', 'postgres://u:p@c/n']],
    ['postgres://[::1]:5433/n', ['postgres://[::1]:5433/n']],
    [
      'postgres://u@[2001:db8::1],10.0.0.1:5433/n',
      ['postgres://u@[2001:db8::1]/n', 'postgres://u@10.0.0.1:5433/n'],
    ],
    [
      'postgres://a,b/n?sslmode=require',
      ['postgres://a/n?sslmode=require', 'postgres://b/n?sslmode=require'],
    ],
    [
      'postgres://u:%40%2F%3F%23%2C%3A@a,b/n',
      ['postgres://u:%40%2F%3F%23%2C%3A@a/n', 'postgres://u:%40%2F%3F%23%2C%3A@b/n'],
    ],
    ['postgres://u:a,b:c!$&()*+;=~@h/n', ['postgres://u:a,b:c!$&()*+;=~@h/n']],
  ];
  for (const [url, addresses] of readable) {
    it(`has ${addresses.length === 1 ? 'one host' : `${addresses.length} hosts`}: ${url}`, () => {
      assert.deepEqual(addressesOf(url), addresses);
    });
  }

  it('keeps every character of an escaped password', () => {
    const password = 'p@ss/w?r#d,:% ü"';
    for (const address of addressesOf(`postgres://u:${encodeURIComponent(password)}@a,b/n`)!) {
      assert.equal(decodeURIComponent(new URL(address).password), password);
    }
  });

  it('may contain a password, before the hosts or among the options', () => {
    for (const url of [
      'postgres://u:p@a/n',
      'postgres://:p@a,b:5433/n',
      'postgres://u:@a/n',
      'postgres://u:%3A@a?sslmode=require',
      'postgres://a/n?password=p',
      'postgres://u@a/n?sslmode=require&sslPassword=p',
    ]) {
      assert.equal(hasPassword(url), true, url);
    }
    for (const url of [
      'postgres://a:5432/n',
      'postgres://u@a:5432,b:5433/n',
      'postgres://u@[2001:db8::1]:5433/password:x',
      'postgres://u%3Ap@a/n?sslmode=require',
    ]) {
      assert.equal(hasPassword(url), false, url);
    }
  });

  it('can be given a password, every character of which is kept', () => {
    const password = 'p@ss/w?r#d,:% ü"';
    for (const [url, user, count] of [
      ['postgres://u@a:1,b/n?sslmode=require', 'u', 2],
      ['postgres://[::1]:5433/n', '', 1],
      ['postgresql://a', '', 1],
    ] as const) {
      const addresses = addressesOf(withPassword(url, password))!;
      assert.equal(addresses.length, count);
      for (const address of addresses) {
        assert.equal(decodeURIComponent(new URL(address).password), password);
        assert.equal(new URL(address).username, user);
      }
      assert.equal(describeAddress(withPassword(url, password)), describeAddress(url));
    }
  });

  const refused = [
    '',
    'events',
    'mysql://a/events',
    'http://a/events',
    'postgres:a/events',
    'postgres://',
    'postgres:///events',
    'postgres://u:p@/events',
    'postgres://a,/events',
    'postgres://,a/events',
    'postgres://a:b/events',
    'postgres://a:99999/events',
    'postgres://::1/events',
    'postgres://u:p@ss@a/events',
    'postgres://u:p/ss@a/events',
    'postgres://a b/events',
    'postgres://a/events#part',
  ];
  for (const url of refused) {
    it(`is invalid: ${url || '(empty)'}`, () => assert.equal(addressesOf(url), undefined));
  }

  it('is shown without user, password and options', () => {
    assert.equal(describeAddress('postgres://user:secret@a:1,b/events?sslmode=require'), 'a:1,b/events');
  });
});
