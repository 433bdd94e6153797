// The network of a client's IP address: the address itself, or the /64 of an IPv6 address, in any spelling.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { clientNetwork } from '../../src/http/access/client-network.ts';

/** One line per network, with different spellings of it. */
const NETWORKS: readonly (readonly string[])[] = [
  [
    '203.0.113.7',
    '203.0.113.7:5678',
    '::ffff:203.0.113.7',
    '::FFFF:203.0.113.7',
    '0:0:0:0:0:ffff:203.0.113.7',
    '::ffff:cb00:7107',
    '[::ffff:203.0.113.7]:5678',
    '::ffff:203.0.113.7:5678',
    '"203.0.113.7:5678"',
  ],
  ['203.0.113.8', '::ffff:203.0.113.8'],
  ['127.0.0.1', '::ffff:127.0.0.1', '::ffff:7f00:1'],
  ['0.0.0.0'],
  ['::', '::1', '::2', '0:0:0:0:0:0:0:1', '0000:0000:0000:0000:0000:0000:0000:0001', '::1.2.3.4', '::%lo'],
  [
    '2001:db8::',
    '2001:db8::1',
    '2001:DB8::ffff:ffff:ffff:ffff',
    '2001:0db8:0000:0000:1::',
    '2001:db8:0:0:1:2:3:4',
    '[2001:db8::1]',
    '[2001:db8::2]:443',
    '[2001:DB8::2]:65535',
    '"[2001:db8::3]:8080"',
    '[2001:db8::3%25eth0]:80',
    '2001:db8:0:0:1:2:3:4:54321',
    '2001:db8::1:54321',
    ' 2001:db8::7 ',
  ],
  ['2001:db8:0:1::', '2001:db8:0:1:ffff::', '2001:db8::1:0:0:0:1', '2001:0db8::0001:1:1:1:1'],
  ['2001:db8:1::', '2001:db8:1::1', '2001:0db8:0001::203.0.113.7', '2001:db8:1:0:0:0:203.0.113.7'],
  ['2001:db8:10::', '2001:db8:10::1'],
  ['2001:db8:1:2::', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2:3:4:203.0.113.7', '2001:db8:1:2:3:4:5::'],
  ['64:ff9b::203.0.113.7', '64:ff9b::1', '64:ff9b::cb00:7107'],
  ['fe80::', 'fe80::1', 'fe80::1%eth0', 'fe80::1%1', 'FE80::abcd%en0', 'fe80:0:0:0:1:2:3:4%eth1'],
  ['ffff::', 'ffff::1'],
  ['::1:0:0:0:0', '0:0:0:1::', '0:0:0:1:2:3:4:5'],
];

describe('clientNetwork', () => {
  it('returns one name for all spellings of a network, and different names for different networks', () => {
    const names = NETWORKS.map((addresses) => new Set(addresses.map(clientNetwork)));
    for (const [at, found] of names.entries()) assert.equal(found.size, 1, `${NETWORKS[at]}: ${[...found]}`);
    assert.equal(new Set(names.flatMap((found) => [...found])).size, NETWORKS.length);
  });

  it('names an IPv4 address by itself and an IPv6 address by its /64', () => {
    assert.equal(clientNetwork('203.0.113.7'), '203.0.113.7');
    assert.equal(clientNetwork('::ffff:203.0.113.7'), '203.0.113.7');
    assert.equal(clientNetwork('2001:0DB8::1'), '2001:db8:0:0::/64');
    assert.equal(clientNetwork('::'), '0:0:0:0::/64');
  });

  it('depends only on the first four groups of an IPv6 address, in any spelling', () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    const groups = fc.tuple(group, group, group, group);
    fc.assert(
      fc.property(groups, groups, groups, fc.boolean(), (network, host, otherHost, padded) => {
        fc.pre(network[0] !== 0); // ::ffff:0:0/96 is IPv4
        const write = (parts: readonly number[]) =>
          parts.map((part) => part.toString(16).padStart(padded ? 4 : 1, '0')).join(':');
        const name = clientNetwork(`${write(network)}:${write(host)}`);
        assert.equal(clientNetwork(`${write(network)}:${write(otherHost)}`), name);
        assert.equal(clientNetwork(`${write(network)}::`), name);
        const url = new URL(`http://[${write(network)}:${write(host)}]`).hostname.slice(1, -1);
        assert.equal(clientNetwork(url), name, 'in its shortest form');
        for (const at of network.keys()) {
          const neighbour = network.with(at, network[at]! ^ 1);
          fc.pre(neighbour[0] !== 0);
          assert.notEqual(clientNetwork(`${write(neighbour)}:${write(host)}`), name);
        }
      }),
      { seed: 20_261_115, numRuns: 500 },
    );
  });

  it('returns unchanged what is not an IP address', () => {
    for (const text of ['', 'unknown', '_hidden', '1.2.3', '1:2:3', '[unknown]:80', '[1:2]'])
      assert.equal(clientNetwork(text), text);
  });
});
