// Database URLs with one or several hosts.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addressesOf, describeAddress } from '../../src/postgres/client/url.ts';

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
