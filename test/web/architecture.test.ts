// The architecture of the console: who may import whom, no cycles, headers and sizes, and text never becomes markup. Each
// rule is also tested with a small source that breaks it.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { codeOf, importCycles, importsOf, readSources, type Source } from '../support/sources.ts';

/** The same style sheet as for the other pages of the service. */
const SHARED = '../../src/http/browser/pages/shared.css';

/**
 * What each folder may import. `*.ts` are the files outside folders; of `types` only types may be imported: the shapes of
 * the service's responses, and nothing that would become part of the page.
 */
const MAY_IMPORT: Record<string, { values: readonly string[]; types?: readonly string[] }> = {
  'main.tsx': { values: ['app.tsx', 'theme.ts', 'styles/', SHARED, 'preact'] },
  'app.tsx': { values: ['views/', 'components/', '*.ts', 'preact/hooks'] },
  'views/': { values: ['views/', 'components/', '*.ts', 'preact/hooks'], types: ['preact'] },
  'components/': { values: ['components/', '*.ts', 'preact/hooks'], types: ['preact'] },
  'styles/': { values: [] },
  '*.ts': { values: ['*.ts', 'preact/hooks'], types: ['../../src/domain/', 'typebox'] },
};

function fits(target: string, allowed: string): boolean {
  if (allowed === '*.ts') return /^[^./]+\.ts$/.test(target);
  return allowed.endsWith('/') ? target.startsWith(allowed) : target === allowed;
}

function forbiddenImports(source: Source): string[] {
  const folder = Object.keys(MAY_IMPORT).find((name) => fits(source.path, name));
  if (folder === undefined) return [`${source.path} is in no folder of the table`];
  const { values, types = [] } = MAY_IMPORT[folder]!;
  return importsOf(source)
    .filter(({ target, kind }) => {
      const allowed = kind === 'type' ? [...values, ...types] : values;
      return !allowed.some((name) => fits(target, name));
    })
    .map(({ target, kind }) => `${source.path} → ${target} (${kind})`);
}

function lacksHeader({ path, text }: Source): boolean {
  if (path.endsWith('.css')) return !/^\/\* [^*]+ \*\/\n/.test(text);
  const length = text.split('\n').findIndex((line) => !line.startsWith('// '));
  return length < 1 || length > 4;
}

/** Ways in which text could become markup, script or a URL to follow. */
const MAKES_MARKUP =
  /innerHTML|outerHTML|insertAdjacentHTML|InnerHTML|srcdoc|DOMParser|createContextualFragment|document\.write|\beval\(|new Function|setHTML/;
/** URLs of links are constants or built from an ID; none comes from an agent. */
const LINKS_TO_DATA = /href=\{\w+[.?[]/;
const STORES = /\blocalStorage\b|\bsessionStorage\b|\bindexedDB\b|document\.cookie|\bcaches\b/;

const RULES: Record<string, (sources: readonly Source[]) => string[]> = {
  'imports only what its folder may': (sources) => sources.flatMap(forbiddenImports),
  'is part of no import cycle': importCycles,
  'has a name in kebab case': (sources) =>
    named(sources, ({ path }) => !/^(?:[a-z0-9-]+\/)*[a-z0-9-]+\.(?:tsx?|css)$/.test(path)),
  'begins with a header': (sources) => named(sources, lacksHeader),
  'has at most 500 lines': (sources) => named(sources, ({ text }) => text.split('\n').length > 501),
  'makes no markup from text': (sources) => named(sources, ({ text }) => MAKES_MARKUP.test(text)),
  'links to no URL from an agent': (sources) => named(sources, ({ text }) => LINKS_TO_DATA.test(text)),
  'stores nothing but the theme': (sources) =>
    named(sources, (source) => source.path !== 'theme.ts' && STORES.test(codeOf(source))),
};

function named(sources: readonly Source[], isWrong: (source: Source) => boolean): string[] {
  return sources.filter(isWrong).map(({ path }) => path);
}

describe('every file of the console', () => {
  const sources = readSources(join(import.meta.dirname, '../../web/src'));

  it('is read, in every folder', () => {
    assert.ok(sources.length > 40);
    for (const folder of Object.keys(MAY_IMPORT))
      assert.ok(
        sources.some(({ path }) => fits(path, folder)),
        folder,
      );
  });

  for (const [rule, violations] of Object.entries(RULES)) {
    it(rule, () => assert.deepEqual(violations(sources), []));
  }
});

describe('the pages / and /docs', () => {
  const pages = readSources(join(import.meta.dirname, '../../src/http/browser/pages'));

  it('make no markup from text', () => {
    assert.deepEqual(RULES['makes no markup from text']!(pages), []);
  });
});

describe('every rule', () => {
  const broken: [rule: string, path: string, text: string, found?: string][] = [
    [
      'imports only what its folder may',
      'api.ts',
      "import { Event } from '../../src/domain/events/event.ts';",
      '../../src/domain/events/event.ts (value)',
    ],
    [
      'imports only what its folder may',
      'api.ts',
      "import type { Store } from '../../src/sqlite/store.ts';",
      '../../src/sqlite/store.ts (type)',
    ],
    [
      'imports only what its folder may',
      'views/a.tsx',
      "import type { Event } from '../../../src/domain/events/event.ts';",
      '../../src/domain/events/event.ts (type)',
    ],
    [
      'imports only what its folder may',
      'components/a.tsx',
      "import { A } from '../views/a.tsx';",
      'views/a.tsx (value)',
    ],
    ['imports only what its folder may', 'router.ts', "import { App } from './app.tsx';", 'app.tsx (value)'],
    ['imports only what its folder may', 'api.ts', "import Type from 'typebox';", 'typebox (value)'],
    ['has a name in kebab case', 'views/agentView.tsx', ''],
    ['begins with a header', 'a.ts', "import 'b';\n"],
    ['begins with a header', 'styles/a.css', 'a {}\n'],
    ['has at most 500 lines', 'a.ts', 'x;\n'.repeat(501)],
    ['makes no markup from text', 'views/a.tsx', '<p dangerouslySetInnerHTML={{ __html: title }} />'],
    ['links to no URL from an agent', 'views/a.tsx', '<a href={event.url}>'],
    ['stores nothing but the theme', 'api.ts', "localStorage.setItem('token', token);"],
  ];
  for (const [rule, path, text, found] of broken) {
    it(`"${rule}" finds ${JSON.stringify(text.slice(0, 60))} in ${path}`, () => {
      assert.deepEqual(RULES[rule]!([{ path, text }]), [found ? `${path} → ${found}` : path]);
    });
  }

  it('"is part of no import cycle" finds two files that import each other', () => {
    const sources = [
      { path: 'a.ts', text: "import './b.ts';" },
      { path: 'b.ts', text: "import type { A } from './a.ts';" },
    ];
    assert.deepEqual(RULES['is part of no import cycle']!(sources), ['a.ts → b.ts → a.ts']);
  });
});
