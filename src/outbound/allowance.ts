// Hosts and networks that an operator opens to one purpose (OUTBOUND_ALLOW), although they are not public or use another port.
import { BlockList, isIP } from 'node:net';

/** Who sends requests to URLs that strangers choose: OAuth clients' documents; webhooks are reserved. */
export const PURPOSES = ['client', 'webhook'] as const;
export type AllowedPurpose = (typeof PURPOSES)[number];

export interface Allowance {
  readonly purpose: AllowedPurpose;
  /** The host name as in a URL, or a network as address and prefix length. */
  readonly target: string | { readonly address: string; readonly bits: number };
  readonly port: number;
}

const HTTPS_PORT = 443;

/** What an item must look like, for a message about one that does not. */
export const ALLOWANCE_HINT =
  `a purpose (${PURPOSES.join(' or ')}) with a host or a network, and a port if it is not ${HTTPS_PORT}, such as ` +
  'client:apps.example.com, client:10.0.0.0/8:8443 or client:[fd00::/8]';

/** Reads `purpose:host[:port]` or `purpose:network[:port]`; IPv6 is in brackets. Undefined if it is neither. */
export function readAllowance(item: string): Allowance | undefined {
  const pattern =
    /^(?<purpose>[a-z]+):(?:\[(?<ipv6>[^\]]+)\]|(?<other>[^:[\]]+))(?::(?<digits>[1-9]\d{0,4}))?$/;
  const { purpose, ipv6, other = '', digits } = pattern.exec(item)?.groups ?? {};
  const port = Number(digits ?? HTTPS_PORT);
  const known = PURPOSES.find((name) => name === purpose);
  const target = ipv6 === undefined ? readHost(other) : readNetwork(ipv6, 6);
  if (known === undefined || target === undefined || port > 65_535) return undefined;
  return { purpose: known, target, port };
}

function readHost(text: string): Allowance['target'] | undefined {
  if (text.includes('/')) return readNetwork(text, 4);
  if (!/^[\p{L}\p{N}\p{M}._-]+$/u.test(text)) return undefined;
  const host = URL.parse(`https://${text}`)?.hostname;
  return host !== undefined && isIP(host) === 4 ? { address: host, bits: 32 } : host;
}

/** A network, or a single address. */
function readNetwork(text: string, family: 4 | 6): Allowance['target'] | undefined {
  const max = family === 4 ? 32 : 128;
  const [address = '', bits = String(max), ...others] = text.split('/');
  if (isIP(address) !== family || address.includes('%') || others.length > 0) return undefined;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= max ? { address, bits: Number(bits) } : undefined;
}

/** Whether the address is in the network of the allowance. False if the allowance names a host. */
export function includesAddress({ target }: Allowance, address: string): boolean {
  if (typeof target === 'string' || isIP(address) !== isIP(target.address)) return false;
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(target.address, target.bits, family);
  return list.check(address, family);
}
