// The rules of the source tree: who may import whom, no cycles, no barrels, names, headers and sizes. Each rule is also
// shown to fail on a small source that breaks it.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { codeOf, type Import, importCycles, importsOf, readSources, type Source } from './support/sources.ts';

/**
 * What each folder (or file at the top) may import: a folder ends with a slash, `node:` is any part of Node, `(types)` allows
 * types only, `(resolve)` only import.meta.resolve, `(url)` only new URL. A folder that is not listed may not exist. For the
 * console in web/ see test/web/architecture.test.ts. The domain may import only packages that compute or look up and do no
 * I/O: windows-iana is a table of names.
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  'spatial/': ['spatial/', 'domain/'],
  'domain/': [
    'domain/',
    'typebox (types)',
    '@photostructure/tz-lookup',
    'windows-iana',
    'node:crypto',
    'node:zlib',
  ],
  'metrics/': ['metrics/'],
  'places/': ['places/', 'domain/', 'node:fs/promises', 'node:util', 'node:zlib'],
  'usecases/': ['usecases/', 'domain/', 'typebox (types)'],
  'words/': ['words/', 'domain/', 'spatial/', 'node:worker_threads'],
  'memory/': ['memory/', 'domain/', 'spatial/', 'words/', 'metrics/', 'node:timers/promises'],
  'sqlite/': ['sqlite/', 'domain/', 'memory/', 'words/tokenizer.ts', 'metrics/', 'migrations.ts', 'node:'],
  'postgres/': [
    'postgres/',
    'domain/',
    'memory/',
    'words/tokenizer.ts',
    'metrics/',
    'migrations.ts',
    'postgres',
    'node:',
  ],
  'oidc/': ['oidc/', 'domain/', 'outbound/', 'jose', 'openid-client'],
  'outbound/': ['outbound/', 'node:'],
  'oauth/': ['oauth/', 'usecases/', 'domain/', 'outbound/', 'typebox (types)', 'node:crypto'],
  'http/': [
    'http/',
    'oauth/',
    'usecases/',
    'domain/',
    'metrics/',
    'fastify',
    'typebox (types)',
    'pino',
    'node:',
  ],
  'mcp/': ['mcp/', 'usecases/', 'domain/', 'typebox (types)', '@modelcontextprotocol/server'],
  'cli/': [
    'cli/',
    'usecases/',
    'domain/',
    'oidc/local-issuer.ts',
    'config.ts',
    'engines.ts',
    'service.ts',
    'system.ts',
    'pino',
    'pino-pretty',
    'node:',
  ],
  'migrations.ts': ['domain/errors.ts', 'node:fs'],
  'config.ts': [
    'domain/',
    'variables.ts',
    'outbound/allowance.ts',
    'postgres/client/url.ts',
    'node:net',
    'node:path',
  ],
  'variables.ts': ['domain/'],
  'system.ts': ['domain/', '../package.json', 'node:crypto', 'node:fs'],
  'engines.ts': [
    'config.ts',
    'system.ts',
    'domain/',
    'sqlite/',
    'postgres/',
    'metrics/',
    'oidc/local-issuer.ts',
  ],
  'store-log.ts': ['domain/', 'engines.ts', 'postgres/memory/node-events.ts', 'pino (types)'],
  'service.ts': [
    'config.ts',
    'engines.ts',
    'store-log.ts',
    'system.ts',
    'domain/',
    'usecases/',
    'metrics/',
    'sqlite/',
    'postgres/',
    'oidc/',
    'oauth/',
    'outbound/',
    'places/',
    'http/',
    'mcp/',
    'fastify (types)',
    'pino (types)',
    '../web/dist/ (url)',
    'node:',
  ],
  'main.ts': ['cli/run.ts'],
};

function fits({ target, kind }: Import, rule: string): boolean {
  const [, allowed = '', only] = /^(\S+)(?: \((\w+)\))?$/.exec(rule)!;
  const isNamed = /[/:]$/.test(allowed) ? target.startsWith(allowed) : target === allowed;
  if (only === 'types') return isNamed && kind === 'type';
  if (only === 'url') return isNamed && kind === 'url';
  return isNamed && (kind === 'resolve') === (only === 'resolve');
}

function forbiddenImports(source: Source): string[] {
  const room = /^[^/]+(?:\/|$)/.exec(source.path)![0];
  const rules = MAY_IMPORT[room];
  if (!rules) return [`${source.path} is in no listed folder`];
  return importsOf(source)
    .filter((found) => !rules.some((rule) => fits(found, rule)))
    .map(({ target, kind }) => `${source.path} → ${target} (${kind})`);
}

/**
 * The rooms of http/, from the top: each file may import from its own room and from those below it. Files that are directly in
 * http/ are above all of them.
 */
const HTTP_ROOMS = [
  '', // server.ts and what starts and describes it
  'routes', // what can be called
  'browser', // what only browsers need
  'guide', // what the API says about itself
  'log', // what operators read about requests
  'access', // who is calling
  'admission', // how much
  'request', // reading
  'response', // writing
];

/** The room's place from the top; -1 for a folder that is not listed; undefined for files that are not in http/. */
function httpRoomOf(path: string): number | undefined {
  const [, room = ''] = /^http\/(?:([^/]+)\/)?/.exec(path) ?? ['', undefined];
  return path.startsWith('http/') ? HTTP_ROOMS.indexOf(room) : undefined;
}

function importsUpInHttp(sources: readonly Source[]): string[] {
  return sources.flatMap((source) => {
    const own = httpRoomOf(source.path);
    if (own === undefined) return [];
    if (own < 0) return [`${source.path} is in no listed room`];
    return importsOf(source)
      .filter(({ target }) => (httpRoomOf(target) ?? own) < own)
      .map(({ target }) => `${source.path} → ${target}`);
  });
}

/** Whether the file has only comments, imports and re-exports. */
function isBarrel(source: Source): boolean {
  const code = codeOf(source);
  const passedOn = /^(?:import|export)\s[^'";]*?'[^']+';$|^export\s+(?:type\s+)?\{[^}]*\};$/gm;
  return /^export\s/m.test(code) && code.replaceAll(passedOn, '').trim() === '';
}

const BANNED_WORDS = /^(?:utils?|helpers?|common)$/;

function isBadName({ path }: Source): boolean {
  const words = path.replace(/\.(?:ts|sql|js|css|html|svg|ico)$/, '').split(/[/-]/);
  return !words.every((word) => /^[a-z0-9]+$/.test(word) && !BANNED_WORDS.test(word));
}

function lacksHeader({ path, text }: Source): boolean {
  if (/\.(?:html|svg|ico)$/.test(path)) return false; // it would be sent to every visitor
  if (path.endsWith('.css')) return !/^\/\* [^*]+ \*\/\n/.test(text);
  const mark = path.endsWith('.sql') ? '-- ' : '// ';
  const lines = text.split('\n');
  const length = lines.findIndex((line) => !line.startsWith(mark));
  return length < 1 || length > 4;
}

const MAX_LINES = 500;

/** Time and randomness come from system.ts; a stopwatch (performance.now) is neither. */
function asksForTimeOrChance({ path, text }: Source): boolean {
  const asks =
    /\bDate\.now\b|\bnew Date\(\)|\bTemporal\.Now\b|\bMath\.random\b|\brandom(?:Bytes|UUID|Int|Fill)|getRandomValues/;
  return path !== 'system.ts' && asks.test(text);
}

/**
 * Files outside outbound/ that may open connections: the engine to its database, and commands to the service itself. The
 * scripts of pages run in browsers; the server of the metrics only listens.
 */
const MAY_CONNECT =
  /^(?:outbound\/|postgres\/client\/|cli\/(?:mcp|agent-changes)\.ts$|http\/browser\/pages\/|http\/metrics-server\.ts$)/;

/** Whether the file can send requests elsewhere: by itself, or with a library that does not use outbound/. */
function sendsRequests(source: Source): boolean {
  if (MAY_CONNECT.test(source.path)) return false;
  const code = codeOf(source);
  const modules = /^(?:node:(?:https?|http2|tls|dgram|dns)|undici)(?:\/|$)/;
  const calls =
    /(?<![\w.#])(?:globalThis\.)?fetch\(|\b(?:WebSocket|EventSource)\(|\b(?:connect|createConnection)\b[^;]*? from 'node:net'/;
  const library = /\bcreateRemoteJWKSet\(|\bopenid\.(?:discovery|Configuration)\(/;
  return (
    importsOf(source).some(({ target, kind }) => kind === 'value' && modules.test(target)) ||
    calls.test(code) ||
    (library.test(code) && !/customFetch\](?::| =) providerFetch\b/.test(code))
  );
}

const RULES: Record<string, (sources: readonly Source[]) => string[]> = {
  'imports only what its folder may': (sources) => sources.flatMap(forbiddenImports),
  'imports nothing from a room of http/ above its own': importsUpInHttp,
  'knows nothing of administration if it is about events': (sources) =>
    sources
      .filter(({ path }) => path.startsWith('domain/events/'))
      .filter((source) => importsOf(source).some(({ target }) => target.startsWith('domain/administration/')))
      .map(({ path }) => path),
  'is part of no import cycle': importCycles,
  'does more than re-export': (sources) => named(sources.filter(isBarrel)),
  'has a meaningful name in kebab case': (sources) => named(sources.filter(isBadName)),
  'begins with a header of one to four lines': (sources) => named(sources.filter(lacksHeader)),
  'has at most 500 lines': (sources) =>
    named(sources.filter(({ text }) => text.split('\n').length > MAX_LINES + 1)),
  'gets time and randomness from system.ts': (sources) => named(sources.filter(asksForTimeOrChance)),
  'sends requests only through outbound/': (sources) => named(sources.filter(sendsRequests)),
};

function named(sources: readonly Source[]): string[] {
  return sources.map(({ path }) => path);
}

describe('every file in src', () => {
  const sources = readSources(join(import.meta.dirname, '../src'));

  it('is found, with all its imports', () => {
    assert.ok(sources.length > 40);
    const missed = sources.filter((source) => {
      const written = [...codeOf(source).matchAll(/ from '[^']+';$/gm)];
      return importsOf(source).length < written.length;
    });
    assert.deepEqual(named(missed), []);
  });

  for (const [rule, violations] of Object.entries(RULES)) {
    it(rule, () => assert.deepEqual(violations(sources), []));
  }

  it('is in a folder that has rules, and every folder with rules exists', () => {
    const rooms = new Set(sources.map(({ path }) => /^[^/]+(?:\/|$)/.exec(path)![0]));
    assert.deepEqual([...rooms].sort(), Object.keys(MAY_IMPORT).sort());
  });
});

describe('the rule about imports', () => {
  const forbidden: [path: string, statement: string, found: string][] = [
    ['spatial/a.ts', "import { x } from '../memory/event-memory.ts';", 'memory/event-memory.ts (value)'],
    ['metrics/a.ts', "import type { X } from '../domain/store.ts';", 'domain/store.ts (type)'],
    ['domain/a.ts', "import { Metrics } from '../metrics/metrics.ts';", 'metrics/metrics.ts (value)'],
    ['memory/a.ts', "import { x } from '../sqlite/store.ts';", 'sqlite/store.ts (value)'],
    ['memory/a.ts', "import { x } from '../usecases/events.ts';", 'usecases/events.ts (value)'],
    ['spatial/a.ts', "import 'node:fs';", 'node:fs (value)'],
    ['domain/a.ts', "import { readFileSync } from 'node:fs';", 'node:fs (value)'],
    ['domain/a.ts', "import type { X } from '../spatial/event-index.ts';", 'spatial/event-index.ts (type)'],
    ['domain/a.ts', "export * from '../usecases/events.ts';", 'usecases/events.ts (value)'],
    ['domain/a.ts', 'const x = await import(name);', '? (value)'],
    ['usecases/a.ts', "import Type from 'typebox';", 'typebox (value)'],
    ['usecases/a.ts', "import {\n  type A,\n} from '../sqlite/store.ts';", 'sqlite/store.ts (value)'],
    ['sqlite/a.ts', "const x = await import('../http/server.ts');", 'http/server.ts (value)'],
    ['sqlite/a.ts', "import { a } from '../postgres/store.ts';", 'postgres/store.ts (value)'],
    ['sqlite/a.ts', "new Worker(new URL('../http/a.ts', import.meta.url));", 'http/a.ts (url)'],
    ['oidc/a.ts', "import { readFile } from 'node:fs';", 'node:fs (value)'],
    ['http/a.ts', "import * as openid from 'openid-client';", 'openid-client (value)'],
    ['service.ts', "import { pino } from 'pino';", 'pino (value)'],
    ['http/a.ts', "import { serve } from '../cli/serve.ts';", 'cli/serve.ts (value)'],
    ['http/a.ts', "const path = import.meta.resolve('pino');", 'pino (resolve)'],
    ['http/routes/a.ts', "import { s } from '../../sqlite/store.ts';", 'sqlite/store.ts (value)'],
    ['http/a.ts', "import { mcpHandler } from '../mcp/server.ts';", 'mcp/server.ts (value)'],
    ['mcp/a.ts', "import { serveMcp } from '../http/mcp.ts';", 'http/mcp.ts (value)'],
    ['mcp/a.ts', "import type { FastifyReply } from 'fastify';", 'fastify (type)'],
    ['mcp/a.ts', "import { readFile } from 'node:fs';", 'node:fs (value)'],
    [
      'domain/a.ts',
      "import { McpServer } from '@modelcontextprotocol/server';",
      '@modelcontextprotocol/server (value)',
    ],
    ['cli/a.ts', "import { buildServer } from '../http/server.ts';", 'http/server.ts (value)'],
    ['config.ts', "import { serve } from './cli/serve.ts';", 'cli/serve.ts (value)'],
    ['service.ts', "import { serve } from './cli/serve.ts';", 'cli/serve.ts (value)'],
    [
      'service.ts',
      "import { App } from '../web/dist/assets/index.js';",
      '../web/dist/assets/index.js (value)',
    ],
    ['http/a.ts', "import type { Stats } from '../../web/src/api.ts';", '../web/src/api.ts (type)'],
    ['main.ts', "import { x } from './http/server.ts';", 'http/server.ts (value)'],
  ];
  for (const [path, text, found] of forbidden) {
    it(`refuses ${JSON.stringify(text)} in ${path}`, () => {
      assert.deepEqual(forbiddenImports({ path, text }), [`${path} → ${found}`]);
    });
  }

  it('refuses folders without rules', () => {
    assert.deepEqual(forbiddenImports({ path: 'grpc/a.ts', text: '' }), ['grpc/a.ts is in no listed folder']);
    assert.deepEqual(forbiddenImports({ path: 'other.ts', text: '' }), ['other.ts is in no listed folder']);
  });

  const allowed: [path: string, text: string][] = [
    ['http/a.ts', "import type { Logger } from 'pino';"],
    ['service.ts', "const folder = new URL('../web/dist/', import.meta.url);"],
    ['usecases/a.ts', "import type { Static } from 'typebox';"],
    ['domain/a.ts', "// import 'x' is only named here.\n/**\n * So is\n import 'y'.\n */"],
  ];
  for (const [path, text] of allowed) {
    it(`allows ${JSON.stringify(text)} in ${path}`, () => {
      assert.deepEqual(forbiddenImports({ path, text }), []);
    });
  }
});

describe('every other rule', () => {
  /** Sources that break the rule in the files of `violations`. */
  const broken: [rule: string, files: Record<string, string>, violations: string[]][] = [
    [
      'imports nothing from a room of http/ above its own',
      {
        'http/server.ts': "import { ROUTES } from './routes/table.ts';",
        'http/routes/a.ts': "import { x } from '../server.ts';\nimport { y } from '../browser/b.ts';",
        'http/access/a.ts': "import { x } from '../admission/b.ts';\nimport { y } from './b.ts';",
        'http/admission/a.ts': "import type { X } from '../access/b.ts';",
        'http/response/a.ts': "import { x } from '../request/b.ts';\nimport { y } from '../../domain/b.ts';",
        'http/other/a.ts': '',
      },
      [
        'http/routes/a.ts → http/server.ts',
        'http/admission/a.ts → http/access/b.ts',
        'http/response/a.ts → http/request/b.ts',
        'http/other/a.ts is in no listed room',
      ],
    ],
    [
      'is part of no import cycle',
      { 'a.ts': "import './b.ts';", 'b.ts': "import type { A } from './a.ts';" },
      ['a.ts → b.ts → a.ts'],
    ],
    [
      'knows nothing of administration if it is about events',
      {
        'domain/events/a.ts': "import type { X } from '../administration/b.ts';",
        'domain/events/formats/b.ts': "import { x } from '../event.ts';",
        'domain/administration/c.ts': "import { x } from '../events/event.ts';",
      },
      ['domain/events/a.ts'],
    ],
    [
      'is part of no import cycle',
      {
        'a.ts': "import './b.ts';",
        'b.ts': "import './c.ts';\nimport './d.ts';",
        'c.ts': '',
        'd.ts': "export { b } from './b.ts';",
      },
      ['b.ts → d.ts → b.ts'],
    ],
    [
      'does more than re-export',
      {
        'all.ts': "// All.\nexport * from './a.ts';\nexport { b } from './b.ts';\n",
        'again.ts': "/* All. */\nimport { a } from './a.ts';\nexport { a };\n",
        'fine.ts': "export { a } from './a.ts';\nexport const b = 1;\n",
      },
      ['all.ts', 'again.ts'],
    ],
    [
      'has a meaningful name in kebab case',
      { 'rateLimit.ts': '', 'rate_limit.ts': '', 'Body.ts': '', 'rate-limit.ts': '', '0001-first.sql': '' },
      ['rateLimit.ts', 'rate_limit.ts', 'Body.ts'],
    ],
    [
      'has a meaningful name in kebab case',
      { 'domain/utils.ts': '', 'helpers/a.ts': '', 'http/common/a.ts': '', 'http/query-utils.ts': '' },
      ['domain/utils.ts', 'helpers/a.ts', 'http/common/a.ts', 'http/query-utils.ts'],
    ],
    [
      'begins with a header of one to four lines',
      {
        'late.ts': "import 'b';\n// Late.\n",
        'long.ts': '// 1\n// 2\n// 3\n// 4\n// 5\nx;\n',
        'fine.ts': '// 1\n// 2\n// 3\n// 4\nx;\n',
        'wrong.sql': '// Not SQL.\n',
        'fine.sql': '-- SQL.\n',
        'empty.ts': '',
      },
      ['late.ts', 'long.ts', 'wrong.sql', 'empty.ts'],
    ],
    ['has at most 500 lines', { 'a.ts': 'x;\n'.repeat(501), 'b.ts': 'x;\n'.repeat(500) }, ['a.ts']],
    [
      'gets time and randomness from system.ts',
      {
        'domain/a.ts': 'Date.now()',
        'http/a.ts': 'randomUUID()',
        'cli/a.ts': 'new Date()',
        'system.ts': 'Date.now',
      },
      ['domain/a.ts', 'http/a.ts', 'cli/a.ts'],
    ],
    [
      'sends requests only through outbound/',
      {
        'oidc/a.ts': 'const response = await fetch(url);',
        'oidc/b.ts': 'globalThis.fetch(url);',
        'oidc/c.ts': 'createRemoteJWKSet(url);',
        'oidc/d.ts': 'await openid.discovery(url, {});',
        'http/e.ts': "import { request } from 'node:https';",
        'http/f.ts': "const { get } = await import('node:http');",
        'http/g.ts': "import { connect } from 'node:net';",
        'http/h.ts': "import { lookup } from 'node:dns/promises';",
        'http/i.ts': 'new WebSocket(url);',
        'oidc/fine.ts': 'createRemoteJWKSet(url, { [customFetch]: providerFetch });',
        'http/fine.ts':
          "import { isIP } from 'node:net';\nimport type { Server } from 'node:http';\ncache.fetch(1);",
        'outbound/fine.ts': 'await fetch(url);',
        'cli/mcp.ts': 'await fetch(url);',
      },
      [...'abcd'].map((name) => `oidc/${name}.ts`).concat([...'efghi'].map((name) => `http/${name}.ts`)),
    ],
  ];
  for (const [rule, files, violations] of broken) {
    it(`"${rule}" finds ${violations.join(', ')}`, () => {
      const sources = Object.entries(files).map(([path, text]) => ({ path, text }));
      assert.deepEqual(RULES[rule]!(sources), violations);
    });
  }

  it('is shown to fail', () => {
    const seen = new Set(['imports only what its folder may', ...broken.map(([rule]) => rule)]);
    assert.deepEqual([...seen].sort(), Object.keys(RULES).sort());
  });
});
