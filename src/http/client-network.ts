// The network that a client's address stands for when registrations are counted.
import { isIPv6 } from 'node:net';

/** An IPv4 address itself; of an IPv6 address its /64, which is what one customer gets. */
export function clientNetwork(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped) return mapped;
  const plain = address.split('%')[0]!;
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.toLowerCase().split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const after = tail === '' ? [] : tail.split(':');
    // A dotted IPv4 ending stands for two groups.
    const width = after.length + (after.at(-1)?.includes('.') ? 1 : 0);
    while (groups.length + width < 8) groups.push('0');
    groups.push(...after);
  }
  const network = groups.slice(0, 4).map((group) => group.replace(/^0+(?=.)/, ''));
  return `${network.join(':')}::/64`;
}
