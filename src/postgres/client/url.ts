// Database URLs with one or several hosts, as in libpq: postgres://user:password@a:5432,b:5433/name.

const PARTS = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^@/?#]+)(\/[^?#]*)?(\?[^#]*)?$/;
const HOST = /^(?:\[[0-9a-fA-F:.]+\]|[^:,[\]]+)(?::\d{1,5})?$/;

/** One URL per host; undefined if it is not a database URL. */
export function addressesOf(url: string): string[] | undefined {
  const [, before = '', hosts = '', name = '', query = ''] = PARTS.exec(url) ?? [];
  const each = hosts.split(',');
  if (!each.every((host) => HOST.test(host))) return undefined;
  const urls = each.map((host) => `${before}${host}${name}${query}`);
  return urls.every((one) => URL.canParse(one)) ? urls : undefined;
}

/** The URL without user, password and options, for messages. */
export function describeAddress(url: string): string {
  const [, , hosts = '', name = ''] = PARTS.exec(url) ?? [];
  return `${hosts}${name}`;
}

const EXAMPLE = 'postgres://user:password@host:5432/name; several hosts are separated by commas.';
const TLS_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'];

/**
 * Problem with the URL, as text that follows the variable's name; undefined if there is none. Does not quote the URL, which
 * may contain a password.
 */
export function problemOf(url: string): string | undefined {
  const [first] = addressesOf(url) ?? [];
  if (first === undefined) return `must look like ${EXAMPLE}`;
  const { searchParams } = new URL(first);
  const mode = searchParams.get('sslmode');
  if (mode !== null && !TLS_MODES.includes(mode))
    return `has an unknown sslmode. Use one of ${TLS_MODES.join(', ')}.`;
  if (searchParams.has('sslrootcert'))
    return 'does not support sslrootcert. Set NODE_EXTRA_CA_CERTS to the file instead.';
  return undefined;
}
