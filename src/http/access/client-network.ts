// The client's network: the unit in which connections, requests, registrations and sign-ins are counted. And which addresses, of
// the connection or in X-Forwarded-For, are those of trusted proxies instead.
import { BlockList, isIP, isIPv6, SocketAddress } from 'node:net';

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

const NAMED: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** `trustProxy`: addresses, networks and names as TRUST_PROXY lists them. */
export function trustedProxies(trustProxy: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const item of trustProxy.flatMap((entry) => NAMED[entry] ?? [entry])) {
    const [address = '', bits] = item.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => {
    const plain = plainAddress(address);
    return isIP(plain) !== 0 && list.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
  };
}
