// Configuration from environment variables; no other file reads them. variables.ts has the kinds of values. Reports all invalid
// variables at once. The result is frozen.
import { BlockList, isIP } from 'node:net';
import { resolve } from 'node:path';
import { foldCase, isGoogle } from './domain/administration/admin.ts';
import { TIERS } from './domain/agent.ts';
import { isApiKey } from './domain/api-key.ts';
import { CLIENT_LIMITS, type ClientLimits } from './domain/client-limits.ts';
import { SettingsError, StartError } from './domain/errors.ts';
import type { Policy, PublicNetwork, PublicReading } from './domain/policy.ts';
import { BYTES_PER_MB } from './domain/store.ts';
import { ALLOWANCE_HINT, type Allowance, readAllowance } from './outbound/allowance.ts';
import { describeAddress, hasPassword, problemOf, withPassword } from './postgres/client/url.ts';
import { type Env, Variables } from './variables.ts';

export interface OidcConfig {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined: a public client, protected by PKCE only. */
  readonly clientSecret: string | undefined;
  /** Name of the provider on the sign-in button. Undefined: the host of the issuer. */
  readonly name: string | undefined;
}

export interface DatabaseConfig {
  /** One or several hosts. */
  readonly url: string;
  readonly poolSize: number;
  readonly poolTimeoutMs: number;
  readonly statementTimeoutMs: number;
  /** Whether a node answers searches from memory or by SQL. */
  readonly search: 'memory' | 'database';
  /** Size of the index in memory above which a node searches by SQL. */
  readonly indexMaxBytes: number;
}

export interface Config {
  readonly host: string;
  readonly port: number;
  /** Undefined: no metrics. */
  readonly metricsPort: number | undefined;
  /** Undefined: derived from HOST and PORT. */
  readonly publicUrl: string | undefined;
  readonly dataDir: string;
  /** Undefined: the embedded engine. */
  readonly database: DatabaseConfig | undefined;
  readonly policy: Policy;
  readonly clientLimits: ClientLimits;
  /** Free disk space of the embedded engine below which writes are refused. Undefined: a default. 0: none. */
  readonly minFreeDiskBytes: number | undefined;
  /** The day on which an operator says that the clock is right, as YYYY-MM-DD in UTC. */
  readonly clockConfirmed: string | undefined;
  readonly cacheBytes: number;
  readonly indexMaxBytes: number;
  /** Undefined: the service issues administrators' tokens itself. */
  readonly oidc: OidcConfig | undefined;
  /** Secret that sessions are sealed with. Undefined: a generated one in the store. */
  readonly sessionSecret: string | undefined;
  /** IP addresses and networks of proxies whose forwarded headers are trusted. */
  readonly trustProxy: readonly string[];
  /** Whether MCP clients can sign in. */
  readonly oauth: boolean;
  /** Why they cannot, although nobody has switched it off. */
  readonly oauthProblem: string | undefined;
  /** `*`, or the origins that browsers may call from. */
  readonly corsOrigins: '*' | readonly string[];
  /** Hosts and networks that the service may call although they are not public, by purpose. */
  readonly outboundAllow: readonly Allowance[];
  readonly logLevel: string;
  /** Whether log lines of requests have the agent and the network of the client. */
  readonly logAgent: boolean;
}

const EMAIL = /^[^@\s]+@[^@\s]+$/;
const DOMAIN = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}.-]*[\p{L}\p{N}\p{M}])?$/u;
const DATABASE_DEFAULTS = {
  poolSize: 8,
  poolTimeoutMs: 1_500,
  statementTimeoutMs: 10_000,
  search: 'memory',
  indexMaxBytes: 2_048 * BYTES_PER_MB,
} as const;
const MIN_SECRET_LENGTH = 32;
/** How much a misspelt name may differ; short names less. */
const MAX_DIFFERENCES = 3;
const LETTERS_PER_DIFFERENCE = 4;
const API_KEY = 'LOCAL_EVENTS_API_KEY';
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Throws SettingsError that lists all invalid variables. */
export function readConfig(env: Env): Config {
  const variables = new Variables(env);
  const oidc = readOidc(variables);
  const host = variables.text('HOST') ?? '127.0.0.1';
  const publicUrl = variables.url('PUBLIC_URL');
  const indexMaxBytes = variables.megabytes('INDEX_MAX_MB', DATABASE_DEFAULTS.indexMaxBytes / BYTES_PER_MB);
  const config: Config = {
    host,
    port: variables.number('PORT', 8080, 65_535),
    metricsPort: variables.isSet('METRICS_PORT') ? variables.number('METRICS_PORT', 0, 65_535) : undefined,
    publicUrl,
    dataDir: resolve(variables.text('DATA_DIR') ?? 'data'),
    database: readDatabase(variables, indexMaxBytes),
    policy: readPolicy(variables, oidc),
    clientLimits: readClientLimits(variables),
    minFreeDiskBytes: variables.isSet('MIN_FREE_DISK_MB')
      ? variables.megabytes('MIN_FREE_DISK_MB', 0, { max: 1_000_000_000 })
      : undefined,
    clockConfirmed: variables.date('CLOCK_CONFIRMED'),
    cacheBytes: variables.megabytes('CACHE_MB', 128),
    indexMaxBytes,
    oidc,
    sessionSecret: readSessionSecret(variables),
    trustProxy: variables.list('TRUST_PROXY', 'addresses or networks such as 10.0.0.0/8', isAddressOrNetwork),
    ...readOAuth(variables, publicUrl, host),
    corsOrigins: readOrigins(variables),
    outboundAllow: variables
      .list('OUTBOUND_ALLOW', ALLOWANCE_HINT, (item) => readAllowance(item) !== undefined)
      .flatMap((item) => readAllowance(item) ?? []),
    logLevel: variables.choice('LOG_LEVEL', LOG_LEVELS, 'info'),
    logAgent: variables.choice('LOG_AGENT', ['on', 'off'], 'off') === 'on',
  };
  if (variables.problems.length > 0) throw new SettingsError(variables.problems.join('\n'));
  return freeze(config);
}

/** Names of all settings. */
export function settingNames(): ReadonlySet<string> {
  const names = new Set([API_KEY]);
  const note = (_: object, name: string | symbol) => void names.add(String(name));
  readConfig(new Proxy({}, { get: note }));
  return names;
}

/** Variables with a value that are no settings, but nearly. Those that differ more are taken for other programs'. */
export function findMisspelt(env: Env): string[] {
  const settings = settingNames();
  const names = Object.keys(env).filter((name) => env[name]?.trim() && !settings.has(name));
  return names.flatMap((name) => {
    const near = [...settings]
      .map((known) => ({ known, distance: editDistance(name.toUpperCase(), known) }))
      .filter(
        ({ known, distance }) => distance <= Math.min(MAX_DIFFERENCES, known.length / LETTERS_PER_DIFFERENCE),
      )
      .sort((a, b) => a.distance - b.distance);
    return near
      .slice(0, 1)
      .map(({ known }) => `${name} is not a setting, so it has no effect. Did you mean ${known}?`);
  });
}

/** API key for commands that act as an agent. Throws SettingsError, whose message never contains the key. */
export function readApiKey(env: Env): string {
  const key = env[API_KEY]?.trim();
  if (!key) throw new SettingsError(`Set ${API_KEY} to the key of an agent.`);
  if (isApiKey(key)) return key;
  throw new SettingsError(`${API_KEY} is not a valid API key. Check it for typing errors.`);
}

/** Location of the data, without user and password. */
export function describeData({ database, dataDir }: Config): string {
  return database ? describeAddress(database.url) : dataDir;
}

/** URL of the service for programs on the same machine. */
export function localUrl({ host, port }: Config): string {
  const name = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/** The same configuration with the embedded engine in this folder. */
export function withFolder(config: Config, dataDir: string): Config {
  return freeze({ ...config, dataDir: resolve(dataDir), database: undefined });
}

/** The same configuration with this database. Throws StartError, with text that follows the option's name, for a bad URL. */
export function withDatabase(config: Config, url: string): Config {
  const problem = problemOf(url, 'postgres://user@');
  if (problem) throw new StartError(problem);
  return freeze({ ...config, database: { ...DATABASE_DEFAULTS, ...config.database, url } });
}

/** Whether the URL of the database contains a password. */
export function hasDatabasePassword({ database }: Config): boolean {
  return database !== undefined && hasPassword(database.url);
}

/** The same configuration with this password for its database, whose URL has none. */
export function withDatabasePassword(config: Config, password: string): Config {
  const database = config.database!;
  return freeze({ ...config, database: { ...database, url: withPassword(database.url, password) } });
}

function readPolicy(variables: Variables, oidc: OidcConfig | undefined): Policy {
  return {
    registrationTier: variables.choice('REGISTRATION_TIER', TIERS, 'readwrite'),
    tierLimits: {
      read: variables.number('RATE_LIMIT_READ', 10_000),
      readwrite: variables.number('RATE_LIMIT_READWRITE', 10_000),
      admin: variables.number('RATE_LIMIT_ADMIN', 100_000),
    },
    registrationsPerHour: variables.number('REGISTRATIONS_PER_HOUR', 600),
    failedRegistrationsPerHour: variables.number('FAILED_REGISTRATIONS_PER_HOUR', 600),
    clientRegistrationsPerHour: variables.number('CLIENT_REGISTRATIONS_PER_HOUR', 60),
    publicReading: readPublicReading(variables),
    maxEventsPerAgent: variables.number('MAX_EVENTS_PER_AGENT', 100_000),
    maxBytesPerAgent: variables.megabytes('MAX_MB_PER_AGENT', 100),
    maxBytesPerNetworkAndHour: variables.megabytes('MAX_MB_PER_NETWORK_AND_HOUR', 1_000),
    keepEndedDays: variables.days('KEEP_ENDED_DAYS'),
    keepUnusedAgentsDays: variables.days('KEEP_UNUSED_AGENTS_DAYS'),
    keepDeletedDays: variables.number('KEEP_DELETED_DAYS', 7, 36_500),
    administrators: {
      subjects: variables.list('ADMIN_SUBJECTS', 'subjects', () => true),
      emails: variables.list('ADMIN_EMAILS', 'e-mail addresses', (item) => EMAIL.test(item)).map(foldCase),
      domains: variables
        .list('ADMIN_DOMAINS', 'domains such as example.com', (item) => DOMAIN.test(item))
        .map(foldCase),
      hostedDomainRequired: oidc !== undefined && isGoogle(oidc.issuer),
    },
  };
}

/** Sign-in needs a URL that nobody can listen in on, and the whole host, whose /.well-known/ leads to it. */
function readOAuth(
  variables: Variables,
  publicUrl: string | undefined,
  host: string,
): Pick<Config, 'oauth' | 'oauthProblem'> {
  const problem = publicUrl === undefined ? unsafeHost(host) : unsafeUrl(publicUrl);
  const wanted = variables.choice('OAUTH', ['on', 'off'], problem === undefined ? 'on' : 'off');
  if (wanted === 'on' && problem !== undefined) variables.problems.push(`OAUTH cannot be on: ${problem}.`);
  const isChosen = variables.isSet('OAUTH');
  return { oauth: wanted === 'on', oauthProblem: isChosen ? undefined : problem };
}

function unsafeHost(host: string): string | undefined {
  if (isLoopback(host)) return undefined;
  return 'PUBLIC_URL is not set, and HOST is not a loopback address. Set PUBLIC_URL to an https URL';
}

function unsafeUrl(publicUrl: string): string | undefined {
  const { protocol, hostname, pathname } = new URL(publicUrl);
  if (pathname !== '/') return 'PUBLIC_URL has a path. Clients look for the sign-in at the root of the host';
  if (protocol === 'https:' || isLoopback(hostname)) return undefined;
  return 'PUBLIC_URL is http, so others could read access tokens on their way. Set it to an https URL';
}

function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[?::1\]?)$/i.test(host);
}

/** Undefined if it is off; its other variables are checked in any case. */
function readPublicReading(variables: Variables): PublicReading | undefined {
  const hint = 'networks with their requests per hour, such as 203.0.113.0/24:5000 or 2001:db8::/32:5000';
  const items = variables.list('PUBLIC_READ_NETWORKS', hint, (item) => readPublicNetwork(item) !== undefined);
  const networks = items.flatMap((item) => readPublicNetwork(item) ?? []);
  const repeated = networks.find((network, at) =>
    networks.slice(0, at).some((other) => isSame(network, other)),
  );
  if (repeated) {
    const { address, bits } = repeated;
    variables.problems.push(
      `PUBLIC_READ_NETWORKS must list each network once; it has "${address}/${bits}" twice.`,
    );
  }
  const readsPerHour = variables.number('PUBLIC_READS_PER_HOUR', 600);
  const isOn = variables.choice('PUBLIC_READ', ['on', 'off'], 'off') === 'on';
  return isOn ? { readsPerHour, networks } : undefined;
}

/** Reads `address/bits:limit`; the colon before the limit is the last one. */
function readPublicNetwork(item: string): PublicNetwork | undefined {
  const [, address = '', bits, limit] = /^([^/%]+)\/(\d{1,3}):(\d{1,9})$/.exec(item) ?? [];
  const maxBits = { 0: -1, 4: 32, 6: 128 }[isIP(address)]!;
  return Number(bits) <= maxBits ? { address, bits: Number(bits), readsPerHour: Number(limit) } : undefined;
}

/** Whether both are the same network, however their addresses are written. */
function isSame(network: PublicNetwork, { address, bits }: PublicNetwork): boolean {
  if (network.bits !== bits || isIP(network.address) !== isIP(address)) return false;
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(address, bits, family);
  return list.check(network.address, family);
}

function readClientLimits(variables: Variables): ClientLimits {
  const { connections, requests, requestsPerAgent, bodyBytes, unreadBytes } = CLIENT_LIMITS;
  const count = (name: string, fallback: number) => variables.number(name, fallback, 1_000_000, 1);
  const bytes = (name: string, fallback: number) =>
    variables.megabytes(name, fallback / BYTES_PER_MB, { min: 1 });
  return {
    connections: {
      perClient: count('MAX_CONNECTIONS_PER_NETWORK', connections.perClient),
      shared: count('MAX_CONNECTIONS', connections.shared),
    },
    requests: {
      perClient: count('MAX_REQUESTS_PER_NETWORK', requests.perClient),
      shared: count('MAX_REQUESTS', requests.shared),
    },
    requestsPerAgent: count('MAX_REQUESTS_PER_AGENT', requestsPerAgent),
    bodyBytes: {
      perClient: bytes('MAX_BODIES_MB_PER_CLIENT', bodyBytes.perClient),
      shared: bytes('MAX_BODIES_MB', bodyBytes.shared),
    },
    unreadBytes: {
      perClient: bytes('MAX_UNREAD_MB_PER_CLIENT', unreadBytes.perClient),
      shared: bytes('MAX_UNREAD_MB', unreadBytes.shared),
    },
  };
}

function readDatabase(variables: Variables, indexMaxBytes: number): DatabaseConfig | undefined {
  const url = variables.text('DATABASE_URL');
  const { poolSize, poolTimeoutMs, statementTimeoutMs, search } = DATABASE_DEFAULTS;
  const settings = {
    poolSize: Math.max(1, variables.number('DATABASE_POOL_SIZE', poolSize, 1_000)),
    poolTimeoutMs: variables.number('DATABASE_POOL_TIMEOUT_MS', poolTimeoutMs, 60_000),
    statementTimeoutMs: variables.number('DATABASE_STATEMENT_TIMEOUT_MS', statementTimeoutMs, 600_000),
    search: variables.choice('SEARCH', ['memory', 'database'], search),
    indexMaxBytes,
  };
  if (url === undefined) return undefined;
  const problem = problemOf(url);
  if (!problem) return { url, ...settings };
  variables.problems.push(`DATABASE_URL ${problem}`);
  return undefined;
}

function readOidc(variables: Variables): OidcConfig | undefined {
  const given = variables.text('OIDC_ISSUER');
  const issuer = variables.url('OIDC_ISSUER');
  const clientId = variables.text('OIDC_CLIENT_ID');
  const clientSecret = variables.text('OIDC_CLIENT_SECRET');
  const name = variables.text('OIDC_NAME');
  if (name !== undefined && !/^\P{C}{1,40}$/u.test(name)) {
    variables.problems.push(
      `OIDC_NAME must have at most 40 characters, all of them visible; it is ${JSON.stringify(name)}.`,
    );
  }
  if (given === undefined) return undefined;
  if (clientId === undefined)
    variables.problems.push('OIDC_CLIENT_ID must be set together with OIDC_ISSUER.');
  // Keep the issuer as given: it must match the provider's exactly, and may end with a slash.
  return issuer && clientId ? { issuer: given, clientId, clientSecret, name } : undefined;
}

/**
 * Never quoted in messages, not even if it is invalid. Falls back to the client secret, if that is long enough: a short one
 * could be guessed from a cookie sealed with it.
 */
function readSessionSecret(variables: Variables): string | undefined {
  const secret = variables.text('SESSION_SECRET');
  const clientSecret = variables.text('OIDC_CLIENT_SECRET') ?? '';
  if (secret === undefined) return clientSecret.length < MIN_SECRET_LENGTH ? undefined : clientSecret;
  if (secret.length < MIN_SECRET_LENGTH) {
    variables.problems.push(
      `SESSION_SECRET must have at least ${MIN_SECRET_LENGTH} characters. Generate one with "openssl rand -base64 32".`,
    );
  }
  return secret;
}

function readOrigins(variables: Variables): '*' | readonly string[] {
  // Origins are compared literally, so a * inside one would match nothing.
  const isOrigin = (item: string) =>
    item === '*' || item === 'none' || (!item.includes('*') && URL.parse(item)?.origin === item);
  const origins = variables.list('CORS_ORIGINS', 'origins such as https://example.com, * or none', isOrigin);
  if (origins.length === 0 || origins.includes('*')) return '*';
  return origins.filter((origin) => origin !== 'none');
}

function isAddressOrNetwork(item: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(item)) return true;
  const [address = '', bits, ...others] = item.split('/');
  const family = isIP(address);
  if (family === 0 || others.length > 0) return false;
  // Fastify, too, rejects a prefix length of 0, which would mean every IP address.
  const maxBits = family === 4 ? 32 : 128;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= maxBits);
}

/** Number of characters to insert, delete, replace or swap with their neighbour (optimal string alignment). */
export function editDistance(one: string, other: string): number {
  let [before, last]: number[][] = [[], Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1];
      row[j] = Math.min(row[j - 1]! + 1, last![j]! + 1, last![j - 1]! + (isSame ? 0 : 1));
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      if (isSwapped) row[j] = Math.min(row[j]!, before![j - 2]! + 1);
    }
    [before, last] = [last, row];
  }
  return last!.at(-1)!;
}

/** Freezes the object and all nested ones. */
function freeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) if (typeof inner === 'object') freeze(inner);
  return Object.freeze(value);
}
