// The documents against the code: variables, commands and links that they name exist, and none is left out.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { TOOLS } from '../../src/mcp/tools.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** Anchors of the headings, as GitHub makes them. */
function anchorsOf(markdown: string): Set<string> {
  const prose = markdown.replaceAll(/^```.*?^```$/gms, '');
  const headings = [...prose.matchAll(/^#+ (.+)$/gm)].map((match) => match[1]!);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

describe('docs/configuration.md', () => {
  it('lists every variable that the service reads, and no other', () => {
    const inTable = [...read('docs/configuration.md').matchAll(/^\| `([A-Z_]+)`/gm)].map(
      (match) => match[1]!,
    );
    const inCode = new Set(
      [...read('src/config.ts').matchAll(/'([A-Z]+(?:_[A-Z]+)*)'/g)].map((match) => match[1]!),
    );
    assert.deepEqual(inTable.sort(), [...inCode].sort());
  });
});

describe('docs/mcp.md', () => {
  it('lists every tool, and no other', () => {
    const inTable = [...read('docs/mcp.md').matchAll(/^\| `([a-z_]+)`/gm)].map((match) => match[1]!);
    assert.deepEqual(
      inTable,
      TOOLS.map(({ name }) => name),
    );
  });
});

describe('every document', () => {
  const documents = globSync(
    ['*.md', 'docs/*.md', 'bench/*.md', 'client/*.md', 'examples/*.md', 'test/**/*.md'],
    { cwd: ROOT },
  );

  it('links only to files that exist', () => {
    const broken = documents.flatMap((document) =>
      [...read(document).matchAll(/\]\((?!https?:)([^)#\s]+)/g)]
        .map((match) => match[1]!)
        .filter((target) => !existsSync(join(ROOT, dirname(document), target)))
        .map((target) => `${document}: ${target}`),
    );
    assert.deepEqual(broken, []);
  });

  it('links only to headings that exist', () => {
    const broken = documents.flatMap((document) =>
      [...read(document).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)]
        .filter(([, file, anchor]) => {
          const target = file === '' ? document : join(dirname(document), file!);
          return !anchorsOf(read(target)).has(anchor!);
        })
        .map(([link]) => `${document}: ${link}`),
    );
    assert.deepEqual(broken, []);
  });

  it('names only source files that exist', () => {
    const broken = documents.flatMap((document) =>
      [
        ...read(document).matchAll(
          /`((?:src|test|http|mcp|usecases|domain|memory|sqlite|postgres|spatial|oidc|cli|bin|scripts|bench|deploy)\/[\w./-]+)`/g,
        ),
      ]
        .map((match) => match[1]!)
        .filter((path) => !existsSync(join(ROOT, path)) && !existsSync(join(ROOT, 'src', path)))
        .map((path) => `${document}: ${path}`),
    );
    assert.deepEqual(broken, []);
  });

  it('names only npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json'));
    const named = documents.flatMap((document) =>
      [...read(document).matchAll(/npm run (?:-s )?([\w:-]+)/g)].map((match) => match[1]!),
    );
    assert.ok(named.length > 0);
    assert.deepEqual(
      named.filter((name) => !(name in scripts)),
      [],
    );
  });
});
