// docs/errors.md against the table of errors in the code: a row for every code, with its status, and no other row.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { ERRORS } from '../../src/domain/errors.ts';

interface Row {
  readonly code: string;
  readonly status: string;
}

/** Table rows with a cell that is a code in capitals; the status is the cell after it. */
function codeRows(markdown: string): Row[] {
  return markdown
    .split('\n')
    .filter((line) => line.trimStart().startsWith('|'))
    .flatMap((line) => {
      const cells = line.split('|').map((cell) => cell.trim());
      const at = cells.findIndex((cell) => /^`?[A-Z][A-Z_]+`?$/.test(cell));
      return at < 0 ? [] : [{ code: cells[at]!.replaceAll('`', ''), status: cells[at + 1] ?? '' }];
    });
}

describe('docs/errors.md', () => {
  const rows = codeRows(readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8'));

  it('lists every code once, and no other', () => {
    assert.deepEqual(rows.map((row) => row.code).sort(), Object.keys(ERRORS).sort());
  });

  for (const [code, { status }] of Object.entries(ERRORS)) {
    it(`gives ${code} the status ${status}`, () => {
      assert.deepEqual(
        rows.filter((row) => row.code === code),
        [{ code, status: String(status) }],
      );
    });
  }
});
