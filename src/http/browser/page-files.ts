// The plain files of the pages /, /docs, /for-agents and /oauth/authorize, from pages/: read once per process, and served under names with a hash of their content,
// so that browsers keep them for ever. No build is needed.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { AppError } from '../../domain/errors.ts';
import { StaticDocument, type StaticDocuments } from '../response/static-document.ts';

const PAGES = new URL('./pages/', import.meta.url);

const FOREVER = { 'cache-control': 'public, max-age=31536000, immutable' };

const A_DAY = { 'cache-control': 'public, max-age=86400' };

const TYPES = { js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', svg: 'image/svg+xml' };

/** The files, each after those that it names, and the files in pages/ that it is made of: one style sheet is one request. */
const FILES: readonly (readonly [name: string, parts: readonly string[]])[] = [
  ['icon.svg', ['icon.svg']],
  ['front.css', ['shared.css', 'page.css', 'front.css']],
  ['guide.css', ['shared.css', 'page.css', 'reading.css', 'guide.css']],
  ['consent.css', ['shared.css', 'page.css', 'consent.css']],
  ['docs.css', ['shared.css', 'page.css', 'reading.css', 'operations.css', 'contents.css', 'docs.css']],
  ['theme.js', ['theme.js']],
  ['key.js', ['key.js']],
  ['publish.js', ['publish.js']],
  ['tabs.js', ['tabs.js']],
  ['front.js', ['front.js']],
  ['samples.js', ['samples.js']],
  ['operations.js', ['operations.js']],
  ['contents.js', ['contents.js']],
  ['docs.js', ['docs.js']],
];

/**
 * Security headers of our own pages and the console. Everything is loaded from this service, nothing is inline, and no text can
 * become markup or script.
 */
export const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; font-src 'self'; " +
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'permissions-policy':
    'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), publickey-credentials-get=(), usb=()',
};

/** The API is not disallowed: some clients of agents ask before they call it. */
const ROBOTS = `# Agents are welcome: /llms.txt says how to use this service. The console is for administrators.
User-agent: *
Disallow: /admin
`;

/** Comments, and the indentation of style sheets: a quarter of what would be sent. */
const COMMENTS = /^\s*\/\/.*\n|^\s*\/\*(?:(?!\*\/)[\s\S])*\*\/\n|\/\*\* (?:(?!\*\/).)*\*\/ ?/gm;
const INDENTATION = /^ +/gm;

const readPart = (name: string) => readFileSync(new URL(name, PAGES), 'utf8');

interface PageFiles {
  /** By name with hash. */
  readonly documents: ReadonlyMap<string, StaticDocument>;
  /** URLs with hash, by name. */
  readonly urls: ReadonlyMap<string, string>;
}

let shared: PageFiles | undefined;

function getFiles(): PageFiles {
  shared ??= readFiles();
  return shared;
}

function readFiles(): PageFiles {
  const documents = new Map<string, StaticDocument>();
  const urls = new Map<string, string>();
  for (const [name, parts] of FILES) {
    const [stem, extension] = name.split('.') as [string, keyof typeof TYPES];
    const text = parts.map(readPart).join('\n').replaceAll(COMMENTS, '');
    const content = withHashes(extension === 'css' ? text.replaceAll(INDENTATION, '') : text, urls);
    const hash = createHash('sha256').update(content).digest('base64url').slice(0, 12);
    const served = `${stem}-${hash}.${extension}`;
    documents.set(served, new StaticDocument(content, TYPES[extension], FOREVER));
    urls.set(name, `/docs/${served}`);
  }
  return { documents, urls };
}

/** Replaces names of files, in quotes, with their URLs. */
function withHashes(text: string, urls: ReadonlyMap<string, string>): string {
  return text.replaceAll(/(["'])(?:\.\/)?([a-z-]+\.[a-z]+)\1/g, (all, quote, name) =>
    urls.has(name) ? quote + urls.get(name) + quote : all,
  );
}

/** URL of a file, by its name without the hash. */
export function fileUrl(name: string): string {
  return getFiles().urls.get(name)!;
}

/** Reads a page. `<!-- file -->` stands for the content of that file, each key of `values` for its value. */
export function readPage(name: string, values: Readonly<Record<string, string>> = {}): string {
  const text = templateOf(name);
  // The longest first: one key may begin with another. In one pass: values may be text of strangers, and contain a key.
  const keys = Object.keys(values).sort((a, b) => b.length - a.length);
  if (keys.length === 0) return text;
  return text.replaceAll(new RegExp(keys.map(RegExp.escape).join('|'), 'g'), (key) => values[key]!);
}

const templates = new Map<string, string>();

/** The page without its values; read once. */
function templateOf(name: string): string {
  const known = templates.get(name);
  if (known !== undefined) return known;
  const text = withHashes(withParts(readPart(name)), getFiles().urls);
  templates.set(name, text);
  return text;
}

function withParts(text: string): string {
  return text.replaceAll(/<!-- ([a-z-]+\.(?:html|svg)) -->\n/g, (_, part: string) =>
    withParts(readPart(part)),
  );
}

/** A page as a document. Browsers keep it, and ask each time whether it is still valid. */
export function pageDocument(name: string, values: Readonly<Record<string, string>>): StaticDocument {
  const headers = { ...PAGE_HEADERS, 'cache-control': 'no-cache' };
  return new StaticDocument(readPage(name, values), 'text/html; charset=utf-8', headers);
}

/** Serves the files under /docs/, and those that browsers and crawlers ask every site for: /favicon.ico and /robots.txt. */
export function servePageFiles(app: FastifyInstance, served: StaticDocuments): void {
  const { documents } = getFiles();
  for (const document of documents.values()) served.add(() => document);
  app.get('/docs/*', (request, reply) => {
    const document = documents.get((request.params as { '*': string })['*']);
    if (!document) throw new AppError('NOT_FOUND', 'This file does not exist. Reload the page.');
    return document.send(reply);
  });
  served.serve(app, '/favicon.ico', () => {
    return new StaticDocument(readFileSync(new URL('favicon.ico', PAGES)), 'image/x-icon', A_DAY);
  });
  served.serve(app, '/robots.txt', () => new StaticDocument(ROBOTS, 'text/plain; charset=utf-8', A_DAY));
}
