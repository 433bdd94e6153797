// Which addresses of the internet are public. What the service fetches for others must not reach the machines around it.
import { BlockList, isIP } from 'node:net';

/** Networks that are local, reserved, or lead to IPv4 addresses by another name (RFC 6890 and its registries). */
const NOT_PUBLIC = {
  ipv4: [
    '0.0.0.0/8',
    '10.0.0.0/8',
    '100.64.0.0/10',
    '127.0.0.0/8',
    '169.254.0.0/16',
    '172.16.0.0/12',
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.88.99.0/24',
    '192.168.0.0/16',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '224.0.0.0/3',
  ],
  // Everything outside 2000::/3, and of that Teredo, ORCHID, benchmarks, documentation and 6to4.
  ipv6: ['::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
} as const;

const blocked = new BlockList();
for (const family of ['ipv4', 'ipv6'] as const) {
  for (const network of NOT_PUBLIC[family]) {
    const [address = '', bits] = network.split('/');
    blocked.addSubnet(address, Number(bits), family);
  }
}

/** False too for what is no address. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && !blocked.check(address, family === 4 ? 'ipv4' : 'ipv6');
}
