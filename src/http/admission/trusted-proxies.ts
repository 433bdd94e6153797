// Tells trusted proxies from clients by the address of the connection. Fastify reads the forwarded headers.
import { BlockList, isIPv6 } from 'node:net';

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
  return (address) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
