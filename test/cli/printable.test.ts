// Text from outside, made safe for an operator's terminal.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { printable } from '../../src/cli/command.ts';

describe('printable', () => {
  it('does not change plain text, in any language', () => {
    for (const text of ['', '  two  spaces ', 'Zirkus 🎪, für Ältere; 漢字', 'x'.repeat(1_000)]) {
      assert.equal(printable(text), text);
    }
  });

  it('removes control characters, new lines and changes of direction', () => {
    assert.equal(printable('a\x1b[2Jb\x9b31mc\r\nd\u2028e\u202ef\x07\x7f\0'), 'a [2Jb 31mc d e f ');
  });

  it('shortens long text, which stays valid', () => {
    assert.equal(printable('x'.repeat(1_000_000)), `${'x'.repeat(1_000)}…`);
    assert.equal(printable(`${'x'.repeat(999)}🎪`), `${'x'.repeat(999)}\ufffd…`);
  });
});
