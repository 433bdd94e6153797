// The client's network: the unit in which registrations and sign-ins are counted.
import { isIP, isIPv6, SocketAddress } from 'node:net';

/** The address alone, of what proxies write: some append the client's port, and put an IPv6 address in brackets or quotes. */
export function plainAddress(address: string): string {
  if (isIP(address) !== 0 && !address.includes('%')) return address;
  const text = address.trim().replace(/^"(.*)"$/, '$1');
  const [, inBrackets] = /^\[([^\]]*)\](?::\d*)?$/.exec(text) ?? [];
  const withPort = (inBrackets ?? text).replace(/%.*/, '');
  const plain = isIP(withPort) === 0 ? withPort.replace(/:\d+$/, '') : withPort;
  return isIP(plain) === 0 ? address : plain;
}

/** Returns an IPv4 address unchanged, and the /64 of an IPv6 address, because one customer gets a whole /64. */
export function clientNetwork(address: string): string {
  const plain = plainAddress(address);
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
