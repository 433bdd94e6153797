// The configuration: the default of every variable, good and bad values, all problems in one error, a frozen result.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { type Config, readApiKey, readConfig } from '../src/config.ts';
import { newApiKey } from '../src/domain/api-key.ts';
import { StartError } from '../src/domain/errors.ts';
import type { Policy } from '../src/domain/policy.ts';
import { systemRandom } from '../src/system.ts';
import { startTestService } from './support/service.ts';

const DEFAULTS: Config = {
  host: '127.0.0.1',
  port: 8080,
  metricsPort: undefined,
  publicUrl: undefined,
  dataDir: resolve('data'),
  database: undefined,
  policy: {
    registrationTier: 'readwrite',
    tierLimits: { read: 10_000, readwrite: 10_000, admin: 100_000 },
    registrationsPerHour: 600,
    failedRegistrationsPerHour: 600,
    clientRegistrationsPerHour: 60,
    publicReading: undefined,
    maxEventsPerAgent: 100_000,
    maxBytesPerAgent: 104_857_600,
    maxBytesPerNetworkAndHour: 1_048_576_000,
    administrators: { subjects: [], emails: [], domains: [], hostedDomainRequired: false },
    keepEndedDays: undefined,
    keepUnusedAgentsDays: undefined,
    keepDeletedDays: 7,
  },
  clientLimits: {
    connections: { perClient: 6_000, shared: 10_000 },
    requests: { perClient: 6_000, shared: 12_000 },
    requestsPerAgent: 1_000,
    bodyBytes: { perClient: 16 * 1_048_576, shared: 128 * 1_048_576 },
    unreadBytes: { perClient: 32 * 1_048_576, shared: 256 * 1_048_576 },
  },
  minFreeDiskBytes: undefined,
  clockConfirmed: undefined,
  cacheBytes: 134_217_728,
  indexMaxBytes: 2_147_483_648,
  oidc: undefined,
  sessionSecret: undefined,
  trustProxy: [],
  oauth: true,
  oauthProblem: undefined,
  corsOrigins: '*',
  outboundAllow: [],
  logLevel: 'info',
  logAgent: false,
};

const policy = (changed: Partial<Policy>) => ({ policy: { ...DEFAULTS.policy, ...changed } });
const limits = (changed: Partial<Policy['tierLimits']>) =>
  policy({ tierLimits: { ...DEFAULTS.policy.tierLimits, ...changed } });
const admins = (changed: Partial<Policy['administrators']>) =>
  policy({ administrators: { ...DEFAULTS.policy.administrators, ...changed } });
const publicReading = (
  readsPerHour: number,
  networks: [address: string, bits: number, limit: number][] = [],
) =>
  policy({
    publicReading: {
      readsPerHour,
      networks: networks.map(([address, bits, limit]) => ({ address, bits, readsPerHour: limit })),
    },
  });
const provider = (issuer: string, clientSecret?: string, name?: string) => ({
  oidc: { issuer, clientId: 'client', clientSecret, name },
});

/** The lines of the StartError; none if the configuration is valid. */
function problems(env: Record<string, string>): string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    return error.message.split('\n');
  }
}

const WHOLE_NUMBERS = [
  '-1',
  '1.5',
  '1e3',
  '0x10',
  'many',
  '1 000',
  '1,000',
  '+1',
  '１',
  'NaN',
  'Infinity',
  '9'.repeat(16),
];

const HAS_PATH = 'PUBLIC_URL has a path. Clients look for the sign-in at the root of the host';
const IS_PLAIN =
  'PUBLIC_URL is http, so others could read access tokens on their way. Set it to an https URL';
const NO_PUBLIC_URL: Partial<Config> = {
  oauth: false,
  oauthProblem: 'PUBLIC_URL is not set, and HOST is not a loopback address. Set PUBLIC_URL to an https URL',
};

describe('readConfig', () => {
  it('needs no variable at all', () => assert.deepEqual(readConfig({}), DEFAULTS));

  it('treats empty and blank variables as unset, and trims the others', () => {
    const names = [
      ...readFileSync(new URL('../src/config.ts', import.meta.url), 'utf8').matchAll(/'([A-Z][A-Z_]+)'/g),
    ];
    assert.ok(names.length >= 19);
    assert.deepEqual(readConfig(Object.fromEntries(names.map((match) => [match[1], '']))), DEFAULTS);
    assert.deepEqual(readConfig(Object.fromEntries(names.map((match) => [match[1], ' \t ']))), DEFAULTS);
    assert.equal(readConfig({ PORT: ' 9000 ', HOST: ' ::1\n' }).port, 9000);
  });

  it('ignores variables of other programs', () => {
    assert.deepEqual(readConfig({ PATH: '/bin', port: '1', EVENTS_PORT: '1', constructor: 'x' }), DEFAULTS);
  });

  it('has the defaults that docs/configuration.md names', () => {
    const page = readFileSync(new URL('../docs/configuration.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| `([A-Z_]+)` \| `([^`]+)` \|/gm)];
    assert.ok(rows.length >= 11);
    for (const [, name, value] of rows) assert.deepEqual(readConfig({ [name!]: value }), DEFAULTS, name!);
  });

  const good: [env: Record<string, string>, result: Partial<Config>][] = [
    [{ HOST: '0.0.0.0' }, { host: '0.0.0.0', ...NO_PUBLIC_URL }],
    [{ HOST: '::' }, { host: '::', ...NO_PUBLIC_URL }],
    [{ HOST: 'events.internal' }, { host: 'events.internal', ...NO_PUBLIC_URL }],
    [{ PORT: '0' }, { port: 0 }],
    [{ PORT: '65535' }, { port: 65_535 }],
    [{ METRICS_PORT: '9464' }, { metricsPort: 9464 }],
    [{ METRICS_PORT: '0' }, { metricsPort: 0 }],
    [{ PUBLIC_URL: 'https://events.example.com' }, { publicUrl: 'https://events.example.com' }],
    [{ PUBLIC_URL: 'https://events.example.com/' }, { publicUrl: 'https://events.example.com' }],
    [
      { PUBLIC_URL: 'http://127.0.0.1:8080/base//' },
      { publicUrl: 'http://127.0.0.1:8080/base', oauth: false, oauthProblem: HAS_PATH },
    ],
    [
      { PUBLIC_URL: 'http://events.example.com' },
      { publicUrl: 'http://events.example.com', oauth: false, oauthProblem: IS_PLAIN },
    ],
    [
      { PUBLIC_URL: 'http://events.example.com', OAUTH: 'off' },
      { publicUrl: 'http://events.example.com', oauth: false },
    ],
    [{ PUBLIC_URL: 'http://[::1]:8080' }, { publicUrl: 'http://[::1]:8080' }],
    [
      { HOST: '0.0.0.0', PUBLIC_URL: 'https://events.example.com', OAUTH: 'on' },
      { host: '0.0.0.0', publicUrl: 'https://events.example.com' },
    ],
    [{ OAUTH: 'off' }, { oauth: false }],
    [{ DATA_DIR: '/srv/events' }, { dataDir: '/srv/events' }],
    [{ DATA_DIR: 'here/../there' }, { dataDir: resolve('there') }],
    [
      { DATABASE_URL: 'postgres://u:p@a,b:5433/events?sslmode=require' },
      {
        database: {
          url: 'postgres://u:p@a,b:5433/events?sslmode=require',
          poolSize: 8,
          poolTimeoutMs: 1500,
          statementTimeoutMs: 10_000,
          search: 'memory',
          indexMaxBytes: 2_048 * 1_048_576,
        },
      },
    ],
    [
      {
        DATABASE_URL: 'postgresql://a/events',
        DATABASE_POOL_SIZE: '20',
        DATABASE_POOL_TIMEOUT_MS: '500',
        DATABASE_STATEMENT_TIMEOUT_MS: '3000',
        SEARCH: 'database',
        INDEX_MAX_MB: '64',
      },
      {
        indexMaxBytes: 64 * 1_048_576,
        database: {
          url: 'postgresql://a/events',
          poolSize: 20,
          poolTimeoutMs: 500,
          statementTimeoutMs: 3000,
          search: 'database',
          indexMaxBytes: 64 * 1_048_576,
        },
      },
    ],
    [{ REGISTRATION_TIER: 'read' }, policy({ registrationTier: 'read' })],
    [{ REGISTRATION_TIER: 'admin' }, policy({ registrationTier: 'admin' })],
    [{ RATE_LIMIT_READ: '0' }, limits({ read: 0 })],
    [{ RATE_LIMIT_READ: '1000000000' }, limits({ read: 1_000_000_000 })],
    [{ RATE_LIMIT_READWRITE: '7' }, limits({ readwrite: 7 })],
    [{ RATE_LIMIT_ADMIN: '8' }, limits({ admin: 8 })],
    [{ REGISTRATIONS_PER_HOUR: '0' }, policy({ registrationsPerHour: 0 })],
    [{ FAILED_REGISTRATIONS_PER_HOUR: '0' }, policy({ failedRegistrationsPerHour: 0 })],
    [{ PUBLIC_READ: 'on' }, publicReading(600)],
    [{ PUBLIC_READ: 'off', PUBLIC_READS_PER_HOUR: '7', PUBLIC_READ_NETWORKS: '10.0.0.0/8:5' }, {}],
    [{ PUBLIC_READ: 'on', PUBLIC_READS_PER_HOUR: '0' }, publicReading(0)],
    [
      {
        PUBLIC_READ: 'on',
        PUBLIC_READ_NETWORKS:
          '203.0.113.0/24:5000, 203.0.113.0/25:0,2001:db8::/32:70,::/0:8,203.0.113.9/32:1',
      },
      publicReading(600, [
        ['203.0.113.0', 24, 5_000],
        ['203.0.113.0', 25, 0],
        ['2001:db8::', 32, 70],
        ['::', 0, 8],
        ['203.0.113.9', 32, 1],
      ]),
    ],
    [{ MAX_EVENTS_PER_AGENT: '0' }, policy({ maxEventsPerAgent: 0 })],
    [{ MAX_MB_PER_AGENT: '0' }, policy({ maxBytesPerAgent: 0 })],
    [{ MAX_MB_PER_AGENT: '3' }, policy({ maxBytesPerAgent: 3_145_728 })],
    [{ MAX_MB_PER_NETWORK_AND_HOUR: '0' }, policy({ maxBytesPerNetworkAndHour: 0 })],
    [{ MAX_MB_PER_NETWORK_AND_HOUR: '2' }, policy({ maxBytesPerNetworkAndHour: 2_097_152 })],
    [{ MIN_FREE_DISK_MB: '0' }, { minFreeDiskBytes: 0 }],
    [{ MIN_FREE_DISK_MB: '500' }, { minFreeDiskBytes: 524_288_000 }],
    [{ KEEP_ENDED_DAYS: '1' }, policy({ keepEndedDays: 1 })],
    [{ CLOCK_CONFIRMED: ' 2028-02-29' }, { clockConfirmed: '2028-02-29' }],
    [{ KEEP_UNUSED_AGENTS_DAYS: '36500' }, policy({ keepUnusedAgentsDays: 36_500 })],
    [{ CACHE_MB: '0' }, { cacheBytes: 0 }],
    [{ CACHE_MB: '2' }, { cacheBytes: 2_097_152 }],
    [{ OIDC_ISSUER: 'https://id.example.com', OIDC_CLIENT_ID: 'client' }, provider('https://id.example.com')],
    [
      { OIDC_ISSUER: 'https://id.example.com/', OIDC_CLIENT_ID: 'client' },
      provider('https://id.example.com/'),
    ],
    [{ OIDC_CLIENT_ID: 'client' }, {}],
    [
      { OIDC_ISSUER: 'https://id.example.com', OIDC_CLIENT_ID: 'client', OIDC_CLIENT_SECRET: ' short ' },
      provider('https://id.example.com', 'short'),
    ],
    [
      { OIDC_ISSUER: 'https://id.example.com', OIDC_CLIENT_ID: 'client', OIDC_NAME: ' Café Größe ' },
      provider('https://id.example.com', undefined, 'Café Größe'),
    ],
    [{ OIDC_NAME: 'of no provider' }, {}],
    [{ OIDC_CLIENT_SECRET: 'of no provider' }, {}],
    [{ OIDC_CLIENT_SECRET: 'c'.repeat(31) }, {}],
    [{ OIDC_CLIENT_SECRET: 'c'.repeat(32) }, { sessionSecret: 'c'.repeat(32) }],
    [
      { SESSION_SECRET: 's'.repeat(32), OIDC_CLIENT_SECRET: 'c'.repeat(32) },
      { sessionSecret: 's'.repeat(32) },
    ],
    [{ SESSION_SECRET: 's'.repeat(32) }, { sessionSecret: 's'.repeat(32) }],
    [{ SESSION_SECRET: ` ${'é'.repeat(40)}\n` }, { sessionSecret: 'é'.repeat(40) }],
    [{ ADMIN_SUBJECTS: 'A, b ,,' }, admins({ subjects: ['A', 'b'] })],
    [
      { ADMIN_EMAILS: 'Ada@Example.com,bob@example.com' },
      admins({ emails: ['ada@example.com', 'bob@example.com'] }),
    ],
    [
      { ADMIN_DOMAINS: 'Example.COM, sub.example.org' },
      admins({ domains: ['example.com', 'sub.example.org'] }),
    ],
    [{ ADMIN_DOMAINS: 'bücher.example,corp' }, admins({ domains: ['bücher.example', 'corp'] })],
    [
      { TRUST_PROXY: 'loopback,10.0.0.0/8, ::1,fc00::/7' },
      { trustProxy: ['loopback', '10.0.0.0/8', '::1', 'fc00::/7'] },
    ],
    [{ CORS_ORIGINS: '*' }, { corsOrigins: '*' }],
    [{ CORS_ORIGINS: 'none' }, { corsOrigins: [] }],
    [
      { CORS_ORIGINS: 'https://a.example,http://localhost:3000' },
      { corsOrigins: ['https://a.example', 'http://localhost:3000'] },
    ],
    [{ CORS_ORIGINS: 'https://a.example,*' }, { corsOrigins: '*' }],
    [
      { OUTBOUND_ALLOW: 'client:apps.internal, client:10.0.0.0/8:8443,webhook:[fd00::/8]:8443' },
      {
        outboundAllow: [
          { purpose: 'client', target: 'apps.internal', port: 443 },
          { purpose: 'client', target: { address: '10.0.0.0', bits: 8 }, port: 8443 },
          { purpose: 'webhook', target: { address: 'fd00::', bits: 8 }, port: 8443 },
        ],
      },
    ],
    ...['fatal', 'error', 'warn', 'debug', 'trace', 'silent'].map(
      (logLevel): [Record<string, string>, Partial<Config>] => [{ LOG_LEVEL: logLevel }, { logLevel }],
    ),
    [{ LOG_AGENT: 'on' }, { logAgent: true }],
    [{ LOG_AGENT: 'off' }, { logAgent: false }],
  ];
  for (const [env, result] of good) {
    it(`accepts ${JSON.stringify(env)}`, () => assert.deepEqual(readConfig(env), { ...DEFAULTS, ...result }));
  }

  for (const [name, env] of Object.entries({
    'without PUBLIC_URL': { HOST: '0.0.0.0' },
    'at an http URL': { PUBLIC_URL: 'http://events.example.com' },
    'below a path': { PUBLIC_URL: 'https://example.com/events' },
  }))
    it(`refuses OAUTH=on ${name}`, () =>
      assert.throws(() => readConfig({ ...env, OAUTH: 'on' }), /OAUTH cannot be on: .*PUBLIC_URL/));

  const bad: [name: string, values: string[]][] = [
    ['OAUTH', ['true', '1', 'ON']],
    ['CLIENT_REGISTRATIONS_PER_HOUR', [...WHOLE_NUMBERS, '1000000001']],
    ['PORT', [...WHOLE_NUMBERS, '65536', 'http']],
    ['METRICS_PORT', [...WHOLE_NUMBERS, '65536', 'http']],
    [
      'PUBLIC_URL',
      [
        'events.example.com',
        'https:events.example.com',
        'https://',
        '/base',
        'ftp://a.example',
        'https://a.example?x=1',
        'https://a.example/?',
        'https://a.example#x',
        'https://a b.example',
        'http://a.example:99999',
      ],
    ],
    ['REGISTRATION_TIER', ['write', 'ADMIN', 'read,readwrite', 'toString']],
    ['RATE_LIMIT_READ', [...WHOLE_NUMBERS, '1000000001']],
    ['RATE_LIMIT_READWRITE', [...WHOLE_NUMBERS, '1000000001']],
    ['RATE_LIMIT_ADMIN', [...WHOLE_NUMBERS, '1000000001']],
    ['REGISTRATIONS_PER_HOUR', WHOLE_NUMBERS],
    ['FAILED_REGISTRATIONS_PER_HOUR', WHOLE_NUMBERS],
    ['PUBLIC_READ', ['yes', 'true', '1', 'ON', 'all']],
    ['PUBLIC_READS_PER_HOUR', [...WHOLE_NUMBERS, '1000000001']],
    [
      'PUBLIC_READ_NETWORKS',
      [
        '203.0.113.0/24',
        '203.0.113.7:5',
        '203.0.113.0:24/5',
        '203.0.113.0/33:5',
        '203.0.113.0/24:many',
        '203.0.113.0/24:-1',
        '203.0.113.0/24:1000000001',
        '2001:db8::1:5',
        '2001:db8::/129:5',
        '[2001:db8::]/32:5',
        'fe80::%eth0/64:5',
        'claude.ai/24:5',
        ':5',
      ],
    ],
    ['MAX_EVENTS_PER_AGENT', WHOLE_NUMBERS],
    ['MAX_MB_PER_AGENT', [...WHOLE_NUMBERS, '1000001']],
    ['MAX_MB_PER_NETWORK_AND_HOUR', [...WHOLE_NUMBERS, '1000001']],
    ['MIN_FREE_DISK_MB', [...WHOLE_NUMBERS, '1000000001']],
    ['KEEP_ENDED_DAYS', [...WHOLE_NUMBERS, '0', '36501']],
    [
      'CLOCK_CONFIRMED',
      [
        'today',
        '2027-02-29',
        '2027-02-30',
        '2027-13-01',
        '2027-1-1',
        '20270101',
        '2027-01-01T00:00:00Z',
        '0',
      ],
    ],
    ['KEEP_UNUSED_AGENTS_DAYS', [...WHOLE_NUMBERS, '0', '36501']],
    ['CACHE_MB', [...WHOLE_NUMBERS, '1000001']],
    [
      'ADMIN_EMAILS',
      ['ada', '@example.com', 'ada@', 'a@b@c', 'Ada <ada@example.com>', 'a@example.com b@example.com'],
    ],
    [
      'ADMIN_DOMAINS',
      [
        '@example.com',
        'ada@example.com',
        'https://example.com',
        '*.example.com',
        '.example.com',
        'example.com.',
        'a b',
      ],
    ],
    [
      'TRUST_PROXY',
      [
        'proxy.internal',
        '10.0.0.0/33',
        '::/129',
        '0.0.0.0/0',
        '10.0.0.0/',
        '10.0.0.0/8/8',
        '10.0.0',
        '10.0.0.0/-1',
        'true',
        '1',
        '*',
      ],
    ],
    [
      'CORS_ORIGINS',
      [
        'a.example',
        'https://a.example/',
        'https://a.example/path',
        'https://a.example:443',
        'HTTPS://a.example',
        'null',
        'https://*.example',
      ],
    ],
    ['OUTBOUND_ALLOW', ['apps.internal', 'picture:apps.internal', 'client:10.0.0.0/33', 'client:fd00::/8']],
    ['LOG_LEVEL', ['verbose', 'INFO', '30']],
    ['LOG_AGENT', ['yes', 'true', '1', 'ON']],
  ];
  for (const [name, values] of bad) {
    it(`refuses ${name} if it is invalid, and shows the value`, () => {
      for (const value of values) {
        const lines = problems({ [name]: value });
        assert.equal(lines.length, 1, value);
        assert.ok(lines[0]!.startsWith(`${name} must `) && lines[0]!.includes(`"${value}"`), lines[0]!);
      }
    });
  }

  it('refuses an issuer that is no URL, or has no client', () => {
    const client = { OIDC_CLIENT_ID: 'client' };
    assert.match(
      problems({ OIDC_ISSUER: 'accounts.google.com', ...client }).join(),
      /^OIDC_ISSUER must .*"accounts.google.com"/,
    );
    assert.deepEqual(problems({ OIDC_ISSUER: 'https://id.example.com' }), [
      'OIDC_CLIENT_ID must be set together with OIDC_ISSUER.',
    ]);
    assert.equal(problems({ OIDC_ISSUER: 'x' }).length, 2);
  });

  it('refuses a provider name that is too long, or has invisible characters', () => {
    for (const name of ['x'.repeat(41), 'a\nb', 'a\u202eb', 'a\u0000b']) {
      assert.deepEqual(problems({ OIDC_NAME: name }), [
        `OIDC_NAME must have at most 40 characters, all of them visible; it is ${JSON.stringify(name)}.`,
      ]);
    }
    assert.deepEqual(problems({ OIDC_NAME: '😀'.repeat(40) }), []);
  });

  it('refuses a SESSION_SECRET of fewer than 32 characters, without showing it', () => {
    for (const secret of ['hush', 'hush'.repeat(7), `${'hush'.repeat(7)}hus`]) {
      const lines = problems({ SESSION_SECRET: secret });
      assert.equal(lines.length, 1);
      assert.match(lines[0]!, /^SESSION_SECRET must have at least 32 characters/);
      assert.doesNotMatch(lines[0]!, /hush/);
    }
  });

  it('refuses DATABASE_URL options that would have no effect', () => {
    const ofOption = (option: string) =>
      problems({ DATABASE_URL: `postgres://u:secret@db/events?${option}` });
    assert.match(
      ofOption('sslmode=verfy-full')[0]!,
      /^DATABASE_URL has an unknown sslmode\. Use one of .*verify-full/,
    );
    assert.match(
      ofOption('sslrootcert=ca.pem')[0]!,
      /^DATABASE_URL does not support sslrootcert\. .*NODE_EXTRA_CA_CERTS/,
    );
  });

  it('refuses a DATABASE_URL that is invalid, without showing its password', () => {
    const lines = problems({ DATABASE_URL: 'mysql://user:secret@db.internal/events' });
    assert.equal(lines.length, 1);
    assert.match(lines[0]!, /^DATABASE_URL /);
    assert.doesNotMatch(lines[0]!, /secret/);
  });

  it('names only the bad items of a list', () => {
    const [line] = problems({ ADMIN_EMAILS: 'ada@example.com,bob,carol' });
    assert.ok(line!.includes('"bob", "carol"') && !line!.includes('ada@example.com'), line!);
  });

  it('refuses a network that is listed twice, however it is written', () => {
    for (const [one, other] of [
      ['10.0.0.0/8:1', '10.0.0.0/8:1'],
      ['10.0.0.0/8:1', '10.9.8.7/8:2'],
      ['2001:db8::/32:1', '2001:0DB8:0::1/32:1'],
    ] as const) {
      const network = other.slice(0, other.lastIndexOf(':'));
      assert.deepEqual(problems({ PUBLIC_READ_NETWORKS: `${one},192.0.2.0/24:3,${other}` }), [
        `PUBLIC_READ_NETWORKS must list each network once; it has "${network}" twice.`,
      ]);
    }
  });

  it('reports all bad variables together, one per line', () => {
    const env = Object.fromEntries(bad.map(([name, values]) => [name, values[0]!]));
    const lines = problems({
      ...env,
      OIDC_ISSUER: 'x',
      OIDC_CLIENT_ID: 'client',
      DATABASE_URL: 'postgres://',
      SESSION_SECRET: 'short',
    });
    assert.deepEqual(
      lines.map((line) => line.split(' ')[0]).sort(),
      [...Object.keys(env), 'OIDC_ISSUER', 'DATABASE_URL', 'SESSION_SECRET'].sort(),
    );
  });

  it('returns an object that is frozen at every depth', () => {
    const lists = { CORS_ORIGINS: 'none', OUTBOUND_ALLOW: 'client:10.0.0.0/8' };
    const env = { OIDC_ISSUER: 'https://id.example.com', OIDC_CLIENT_ID: 'client', ...lists };
    const thaw = (value: object, path: string): string[] => [
      ...(Object.isFrozen(value) ? [] : [path]),
      ...Object.entries(value).flatMap(([name, inner]) =>
        typeof inner === 'object' ? thaw(inner, `${path}.${name}`) : [],
      ),
    ];
    assert.deepEqual(thaw(readConfig(env), 'config'), []);
  });

  it('accepts only proxies that the server accepts too', async () => {
    const proxies =
      'loopback,linklocal,uniquelocal,10.0.0.0/8,0.0.0.0/1,192.0.2.1,::1,::/1,fe80::1,::ffff:10.0.0.1/128';
    const service = await startTestService({ TRUST_PROXY: proxies, LOG_LEVEL: 'silent' });
    await service.close();
  });
});

describe('LOCAL_EVENTS_API_KEY', () => {
  const key = newApiKey(systemRandom);

  it('is the key of an agent; spaces around it are removed', () => {
    assert.equal(readApiKey({ LOCAL_EVENTS_API_KEY: key }), key);
    assert.equal(readApiKey({ LOCAL_EVENTS_API_KEY: ` ${key}\n` }), key);
  });

  it('is refused if it is missing or mistyped, and never shown', () => {
    for (const value of [undefined, '', ' ', 'lev_x', `${key}x`, key.toUpperCase()]) {
      assert.throws(
        () => readApiKey({ LOCAL_EVENTS_API_KEY: value }),
        (error) => error instanceof StartError && !error.message.includes('lev_'),
      );
    }
  });
});

describe('the environment', () => {
  const folder = join(import.meta.dirname, '../src');
  const linesWith = (files: string, pattern: RegExp) =>
    globSync(files, { cwd: folder }).flatMap((file) =>
      readFileSync(join(folder, file), 'utf8')
        .split('\n')
        .filter((line) => pattern.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    );

  it('is passed to the command line by main.ts and read nowhere else', () => {
    const readers = linesWith('**/*.ts', /process\W{0,4}env|node:process|loadEnvFile|\bdotenv\b/);
    assert.equal(readers.length, 1, readers.join('\n'));
    assert.match(readers[0]!, /^main\.ts: run\(process\.argv\.slice\(2\), process\.env, process\)/);
  });

  it('is passed on to config.ts by the commands, which do not read it themselves', () => {
    const users = linesWith('cli/*.ts', /\benv\b(?!: Env\b)/);
    assert.ok(users.length > 0);
    const allowed =
      /^cli\/(?:[\w-]+\.ts: .*(?:readConfig|readApiKey|findMisspelt)\(env\)|run\.ts: return .*\w+\(arg[sv], env, io\);)/;
    for (const user of users) assert.match(user, allowed);
  });
});
