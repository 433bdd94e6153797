// Which IP addresses are public. Everything else is local, reserved, or translates to IPv4 addresses that may be local.
import { BlockList, isIP } from 'node:net';

/** RFC 6890 and its registries. */
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
  // Everything outside 2000::/3, and within it Teredo, ORCHID, benchmarks, documentation and 6to4.
  ipv6: ['::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
} as const;

// One list per family: in a list of both, an IPv4 address would also match as its IPv4-mapped IPv6 address.
const blocked = { ipv4: toList('ipv4'), ipv6: toList('ipv6') };

function toList(family: keyof typeof NOT_PUBLIC): BlockList {
  const list = new BlockList();
  for (const network of NOT_PUBLIC[family]) {
    const [address = '', bits] = network.split('/');
    list.addSubnet(address, Number(bits), family);
  }
  return list;
}

/** Also false for text that is not an IP address. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false;
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
  return !blocked[family].check(address, family);
}
