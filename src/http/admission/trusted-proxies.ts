// Tells trusted proxies from clients, by the address of the connection and by those in X-Forwarded-For, which Fastify reads.
import { BlockList, isIP, isIPv6 } from 'node:net';
import { plainAddress } from '../request/client-network.ts';

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
