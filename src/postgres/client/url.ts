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

/** Whether a valid URL contains a password, before the hosts or among the options. */
export function hasPassword(url: string): boolean {
  const [, before = '', , , query] = PARTS.exec(url) ?? [];
  const options = [...new URLSearchParams(query).keys()];
  return /:\/\/[^@]*:/.test(before) || options.some((name) => /password/i.test(name));
}

/** A valid URL without a password, with this one. */
export function withPassword(url: string, password: string): string {
  const [, before = ''] = PARTS.exec(url) ?? [];
  return `${before.replace(/@$/, '')}:${encodeURIComponent(password)}@${url.slice(before.length)}`;
}

/** The URL without user, password and options, for messages. */
export function describeAddress(url: string): string {
  const [, , hosts = '', name = ''] = PARTS.exec(url) ?? [];
  return `${hosts}${name}`;
}

const TLS_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'];

/**
 * Problem with the URL, as text that follows the variable's name; undefined if there is none. Does not quote the URL, which
 * may contain a password. `example` is the beginning of a URL as this place takes it.
 */
export function problemOf(url: string, example = 'postgres://user:password@'): string | undefined {
  const [first] = addressesOf(url) ?? [];
  if (first === undefined)
    return `must look like ${example}host:5432/name; several hosts are separated by commas.`;
  const { searchParams } = new URL(first);
  const mode = searchParams.get('sslmode');
  if (mode !== null && !TLS_MODES.includes(mode))
    return `has an unknown sslmode. Use one of ${TLS_MODES.join(', ')}.`;
  if (searchParams.has('sslrootcert'))
    return 'does not support sslrootcert. Set NODE_EXTRA_CA_CERTS to the file instead.';
  return undefined;
}
