// Progress: a bar in one line on a terminal, plain lines now and then elsewhere.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Progress } from '../../src/cli/progress.ts';

function newProgress(isTTY: boolean) {
  const written: string[] = [];
  const time = { ms: 5_000 };
  const screen = { isTTY, write: (text: string) => written.push(text) };
  const progress = new Progress('lines', screen, () => time.ms);
  return { progress, written, pass: (ms: number) => (time.ms += ms) };
}

describe('progress on a terminal', () => {
  it('writes one line over, with a bar, the rate and the remaining time', () => {
    const { progress, written, pass } = newProgress(true);
    progress.update(0, 0);
    pass(2_000);
    progress.update(1_000, 0.25);
    progress.update(1_001, 0.25);
    pass(2_000);
    progress.update(2_000, 0.5);
    assert.deepEqual(written, [
      '\r[######------------------] 25 %, 1000 lines, 500/s, 6 s left\x1b[K',
      '\r[############------------] 50 %, 2000 lines, 500/s, 4 s left\x1b[K',
    ]);
  });

  it('takes the bar away for a line of its own', () => {
    const { progress, written, pass } = newProgress(true);
    progress.note('before');
    pass(1_000);
    progress.update(5, undefined);
    progress.note('after');
    assert.deepEqual(written, ['before\n', '\r5 lines, 5/s\x1b[K', '\r\x1b[Kafter\n']);
  });
});

describe('progress elsewhere', () => {
  it('is a plain line every few seconds', () => {
    const { progress, written, pass } = newProgress(false);
    for (let second = 1; second <= 7; second++) {
      pass(1_000);
      progress.update(second * 10, second / 700);
      if (second === 4) progress.note('a line');
    }
    assert.deepEqual(written, [
      '0 %, 30 lines, 10/s, 11 min 37 s left\n',
      'a line\n',
      '0 %, 60 lines, 10/s, 11 min 34 s left\n',
    ]);
    assert.equal(progress.seconds, 7);
  });

  it('leaves out what is not known', () => {
    const { progress, written, pass } = newProgress(false);
    pass(4_000);
    progress.update(10, undefined);
    assert.deepEqual(written, ['10 lines, 3/s\n']);
  });
});
