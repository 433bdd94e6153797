// The network that a client's address stands for when registrations are counted.
import { isIPv6, SocketAddress } from 'node:net';

/** An IPv4 address itself; of an IPv6 address its /64, which is what one customer gets. */
export function clientNetwork(address: string): string {
  // Some proxies write the port of the client as well.
  const plain = address.split('%')[0]!.replace(/^([\d.]+):\d+$/, '$1');
  if (!isIPv6(plain)) return plain;
  // The one spelling that the system has for it: short, in lower case, a mapped IPv4 address dotted.
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
