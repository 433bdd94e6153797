// The table of the acceptance suite names only tests that exist, and leaves out no file and no decision. The suite imports
// nothing of the product, and calls the service only through its client, which checks every response.
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

const SUITE = new URL('../acceptance/', import.meta.url);
const ROOT = new URL('../../', import.meta.url);
const files = globSync('*.ts', { cwd: SUITE }).sort();
const sources = new Map(files.map((file) => [file, readFileSync(new URL(file, SUITE), 'utf8')]));
const tests = files.filter((file) => file.endsWith('.test.ts'));
const rows = readFileSync(new URL('README.md', SUITE), 'utf8')
  .split('## What shows what')[1]!
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| ---'));

/** Titles of tests and groups, with … for each value from a table of cases. */
function titlesIn(source: string): Set<string> {
  const found = source.matchAll(/\b(?:it|describe)\(\s*(?:'((?:\\.|[^'\\])*)'|`((?:\\.|[^`\\])*)`)/g);
  return new Set([...found].map(([, plain, template]) => plain ?? template!.replaceAll(/\$\{[^}]*\}/g, '…')));
}

interface Reference {
  readonly file: string;
  readonly title: string;
}

/** Every `file` › title in a row; titles are separated by semicolons. */
function referencesIn(row: string): Reference[] {
  return [...row.matchAll(/`([\w-]+\.test\.ts)` › ([^|`<]+)/g)].flatMap(([, file, list]) =>
    list!
      .split(';')
      .map((title) => ({ file: file!, title: title.trim() }))
      .filter(({ title }) => title !== ''),
  );
}

describe('the table of the acceptance suite', () => {
  const references = rows.flatMap(referencesIn);

  it('names only tests that exist', () => {
    assert.ok(references.length > 100, `${references.length} references were read`);
    const missing = references.filter(({ file, title }) => !titlesIn(sources.get(file) ?? '').has(title));
    assert.deepEqual(missing, []);
  });

  it('names a test of every file of the suite', () => {
    const named = new Set(references.map(({ file }) => file));
    assert.deepEqual(
      tests.filter((file) => !named.has(file)),
      [],
    );
  });

  it('has a row for each of the 26 decisions, and names a test or a folder in each row', () => {
    const numbers = rows.flatMap((row) => /^\| (\d+) \|/.exec(row)?.[1] ?? []).map(Number);
    assert.deepEqual(
      [...new Set(numbers)].sort((a, b) => a - b),
      Array.from({ length: 26 }, (_, at) => at + 1),
    );
    const elsewhere = /`test\/[a-z]+\/`/;
    const headings = rows.filter((row) => /\| shown by \|$/.test(row));
    const empty = rows.filter(
      (row) => !headings.includes(row) && referencesIn(row).length === 0 && !elsewhere.test(row),
    );
    assert.deepEqual(empty, []);
  });

  it('points to folders that exist', () => {
    const folders = rows.flatMap((row) => [...row.matchAll(/`(test\/[a-z]+\/)`/g)].map((match) => match[1]!));
    assert.ok(folders.length > 0);
    for (const folder of folders) assert.ok(existsSync(new URL(folder, ROOT)), folder);
  });
});

describe('the acceptance suite', () => {
  for (const file of files) {
    it(`calls the service only through its client, in ${file}`, () => {
      const source = sources.get(file)!;
      const imports = [...source.matchAll(/\bfrom '([^']+)'/g)].map((match) => match[1]!);
      const outside = imports.filter((name) => name.startsWith('.') && !/^\.\/[\w-]+\.ts$/.test(name));
      assert.deepEqual(outside, [], 'it imports what does not belong to it');
      if (file === 'transport.ts') return;
      assert.doesNotMatch(source, /\bfetch\(|'node:(http|https|http2|net|tls)'/);
      if (file !== 'client.ts') assert.ok(!imports.includes('./transport.ts'));
    });
  }
});
