// The address of a database with one or several hosts, as libpq writes it: postgres://user:password@a:5432,b:5433/name.

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^@/?#]+)(\/[^?#]*)?(\?[^#]*)?$/;
const HOST = /^(?:\[[0-9a-fA-F:.]+\]|[^:,[\]]+)(?::\d{1,5})?$/;

/** An address for each host; undefined if it is no address of a database. */
export function addressesOf(url: string): string[] | undefined {
  const [, before = '', hosts = '', name = '', query = ''] = PARTS.exec(url) ?? [];
  const each = hosts.split(',');
  if (!each.every((host) => HOST.test(host))) return undefined;
  const addresses = each.map((host) => `${before}${host}${name}${query}`);
  return addresses.every((address) => URL.canParse(address)) ? addresses : undefined;
}

/** What may be shown of it: no user, password or options. */
export function describeAddress(url: string): string {
  const [, , hosts = '', name = ''] = PARTS.exec(url) ?? [];
  return `${hosts}${name}`;
}

const EXAMPLE = 'postgres://user:password@host:5432/name; several hosts are separated by commas.';
const TLS_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** What is wrong with such an address, to follow its name; it repeats nothing, for there may be a password. Undefined: nothing. */
export function problemOf(url: string): string | undefined {
  const [first] = addressesOf(url) ?? [];
  if (first === undefined) return `must look like ${EXAMPLE}`;
  const { searchParams } = new URL(first);
  const mode = searchParams.get('sslmode');
  if (mode !== null && !TLS_MODES.includes(mode)) return `needs an sslmode of ${TLS_MODES.join(', ')}.`;
  if (searchParams.has('sslrootcert'))
    return 'cannot have sslrootcert: name the file in NODE_EXTRA_CA_CERTS instead.';
  return undefined;
}
