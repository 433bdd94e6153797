// OUTBOUND_ALLOW: which items are valid, and which addresses a network includes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Allowance, includesAddress, readAllowance } from '../../src/outbound/allowance.ts';

const client = (target: Allowance['target'], port = 443) => ({ purpose: 'client', target, port });

describe('an item of OUTBOUND_ALLOW', () => {
  const valid: [item: string, allowance: unknown][] = [
    ['client:apps.example.com', client('apps.example.com')],
    ['client:Apps.Example.com:8443', client('apps.example.com', 8443)],
    ['client:bücher.example', client('xn--bcher-kva.example')],
    ['client:localhost:65535', client('localhost', 65_535)],
    ['webhook:hooks', { purpose: 'webhook', target: 'hooks', port: 443 }],
    ['client:10.0.0.0/8', client({ address: '10.0.0.0', bits: 8 })],
    ['client:10.0.0.0/8:8443', client({ address: '10.0.0.0', bits: 8 }, 8443)],
    ['client:127.0.0.1:8443', client({ address: '127.0.0.1', bits: 32 }, 8443)],
    ['client:0x7f.1', client({ address: '127.0.0.1', bits: 32 })],
    ['client:0.0.0.0/0', client({ address: '0.0.0.0', bits: 0 })],
    ['client:[fd00::/8]', client({ address: 'fd00::', bits: 8 })],
    ['client:[fd00::/8]:8443', client({ address: 'fd00::', bits: 8 }, 8443)],
    ['client:[::1]:1', client({ address: '::1', bits: 128 }, 1)],
  ];
  for (const [item, allowance] of valid) {
    it(`may be ${item}`, () => assert.deepEqual(readAllowance(item), allowance));
  }

  const invalid = [
    ...['', 'client', 'client:', 'apps.example.com', ':apps.example.com', 'Client:apps.example.com'],
    ...['picture:apps.example.com', 'toString:apps.example.com', 'client:*.example.com', 'client:*'],
    ...['client:apps.example.com:', 'client:apps.example.com:0', 'client:apps.example.com:65536'],
    ...['client:apps.example.com:443:443', 'client:apps.example.com:+1', 'client:https://apps.example.com'],
    ...['client:apps.example.com/path', 'client:user@apps.example.com', 'client:apps example', 'client:a%41'],
    ...[
      'client:10.0.0.0/33',
      'client:10.0.0.0/',
      'client:10.0.0.0/8/8',
      'client:10.0.0/8',
      'client:1.2.3.400',
    ],
    ...['client:fd00::/8', 'client:::1', 'client:[fd00::/129]', 'client:[10.0.0.0/8]', 'client:[fe80::1%lo]'],
    ...['client:[]', 'client:[apps.example.com]', 'client:[::1', 'client:10.0.0.0/-1'],
  ];
  for (const item of invalid) {
    it(`cannot be ${JSON.stringify(item)}`, () => assert.equal(readAllowance(item), undefined));
  }
});

describe('a network of OUTBOUND_ALLOW', () => {
  const includes = (item: string, address: string) => includesAddress(readAllowance(item)!, address);

  it('includes its addresses, and no others', () => {
    assert.ok(includes('client:10.1.0.0/16', '10.1.255.255'));
    assert.ok(!includes('client:10.1.0.0/16', '10.2.0.0'));
    assert.ok(includes('client:10.1.2.3', '10.1.2.3'));
    assert.ok(!includes('client:10.1.2.3', '10.1.2.4'));
    assert.ok(includes('client:[fd00::/8]', 'fdff::1'));
    assert.ok(!includes('client:[fd00::/8]', 'fe00::1'));
  });

  it('includes no address of the other family, also not one that maps to its own', () => {
    assert.ok(!includes('client:10.0.0.0/8', '::ffff:10.0.0.1'));
    assert.ok(!includes('client:10.0.0.0/8', '64:ff9b::10.0.0.1'));
    assert.ok(!includes('client:[::/0]', '10.0.0.1'));
  });

  it('includes no host name', () => {
    assert.ok(!includes('client:10.0.0.0/8', 'ten.example'));
    assert.ok(!includes('client:localhost', '127.0.0.1'));
    assert.ok(!includes('client:localhost', 'localhost'));
  });
});
