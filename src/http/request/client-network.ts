// The client's network: the unit in which registrations and sign-ins are counted.
import { isIPv6, SocketAddress } from 'node:net';

/** Returns an IPv4 address unchanged, and the /64 of an IPv6 address, because one customer gets a whole /64. */
export function clientNetwork(address: string): string {
  // Some proxies append the client's port.
  const plain = address.split('%')[0]!.replace(/^([\d.]+):\d+$/, '$1');
  if (!isIPv6(plain)) return plain;
  // The system's canonical spelling: shortened, in lower case, a mapped IPv4 address in dotted notation.
  const canonical = new SocketAddress({ address: plain, family: 'ipv6' }).address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(canonical)?.[1];
  if (mapped) return mapped;
  const [head = '', tail] = canonical.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const after = tail === '' ? [] : tail.split(':');
    while (groups.length + after.length < 8) groups.push('0');
    groups.push(...after);
  }
  return `${groups.slice(0, 4).join(':')}::/64`;
}
