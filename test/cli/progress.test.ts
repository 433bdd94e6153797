// Progress: a bar in one line on a terminal, plain lines at intervals elsewhere, nothing if the work is quick.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Progress } from '../../src/cli/progress.ts';
import { showLoading } from '../../src/cli/serve.ts';

function newProgress(isTTY: boolean, noun = 'lines') {
  const written: string[] = [];
  const time = { ms: 5_000 };
  const screen = { isTTY, write: (text: string) => written.push(text) };
  const progress = new Progress(noun, screen, () => time.ms);
  return { progress, written, pass: (ms: number) => (time.ms += ms) };
}

describe('progress on a terminal', () => {
  it('rewrites one line, with a bar, the rate and the remaining time', () => {
    const { progress, written, pass } = newProgress(true);
    progress.update(0, 0);
    pass(2_000);
    progress.update(1_000, 0.25);
    progress.update(1_001, 0.25);
    pass(2_000);
    progress.update(2_000, 0.5);
    assert.deepEqual(written, [
      '\r[######------------------] 25 %, 1,000 lines, 500/s, 6 s left\x1b[K',
      '\r[############------------] 50 %, 2,000 lines, 500/s, 4 s left\x1b[K',
    ]);
  });

  it('clears the bar before a note', () => {
    const { progress, written, pass } = newProgress(true);
    progress.note('before');
    pass(1_000);
    progress.update(5, undefined);
    progress.note('after');
    assert.deepEqual(written, ['before\n', '\r5 lines, 5/s\x1b[K', '\r\x1b[K', 'after\n']);
  });

  it('clears the bar for other output, and only if there is one', () => {
    const { progress, written, pass } = newProgress(true);
    progress.clear();
    pass(1_000);
    progress.update(5, undefined);
    progress.clear();
    progress.clear();
    assert.deepEqual(written, ['\r5 lines, 5/s\x1b[K', '\r\x1b[K']);
  });
});

describe('the time left', () => {
  it('counts from when the work began, however long the process had run before', () => {
    const { progress, written, pass } = newProgress(false);
    pass(20_000); // such as a migration
    progress.update(0, 0);
    pass(1_000);
    progress.update(20_000, 0.04);
    assert.deepEqual(written, ['4 %, 20,000 lines, 20,000/s, 24 s left\n']);
  });

  it('follows from the last seconds, if the work was slower or faster before', () => {
    const { progress, written, pass } = newProgress(false);
    progress.update(0, 0);
    for (let second = 1; second <= 10; second++) {
      pass(1_000);
      progress.update(second * 10, second / 1_000);
    }
    assert.match(written.at(-1)!, /^1 %, 100 lines, 10\/s, 16 min 30 s left\n$/);
    for (let second = 1; second <= 6; second++) {
      pass(1_000);
      progress.update(100 + second * 1_000, 0.01 + second / 10);
    }
    assert.match(written.at(-1)!, /^61 %, 6,100 lines, 1,000\/s, 4 s left\n$/);
  });
});

describe('progress elsewhere', () => {
  it('is a plain line every second', () => {
    const { progress, written, pass } = newProgress(false);
    for (let turn = 1; turn <= 7; turn++) {
      pass(400);
      progress.update(turn * 10_000, turn / 700);
      if (turn === 4) progress.note('a line');
    }
    assert.deepEqual(written, [
      '0 %, 30,000 lines, 25,000/s, 4 min 39 s left\n',
      'a line\n',
      '0 %, 60,000 lines, 25,000/s, 4 min 38 s left\n',
    ]);
    assert.equal(progress.seconds, 2.8);
  });

  it('omits unknown values', () => {
    const { progress, written, pass } = newProgress(false);
    pass(4_000);
    progress.update(10, undefined);
    assert.deepEqual(written, ['10 lines, 3/s\n']);
  });
});

for (const isTTY of [true, false]) {
  describe(`progress of quick work, ${isTTY ? 'on a terminal' : 'elsewhere'}`, () => {
    it('is not shown, nor is a milestone', () => {
      const { progress, written, pass } = newProgress(isTTY);
      pass(499);
      progress.update(10, 0.5);
      progress.milestone('half-way');
      assert.deepEqual(written, []);
      pass(1);
      progress.milestone('half-way');
      assert.deepEqual(written, ['half-way\n']);
    });
  });
}

describe('loading', () => {
  for (const { total, bar, last } of [
    {
      total: 40_000,
      bar: '[############------------] 50 %, 20,000 events, 20,000/s, 1 s left',
      last: 'loaded 40,000 events, building the index',
    },
    {
      total: 1_049_999,
      bar: '[------------------------] 1 %, 20,000 events, 20,000/s, 52 s left',
      last: 'loaded 1,049,999 events, building the index',
    },
  ]) {
    it(`ends with the next step, not with a full bar: ${total} events`, () => {
      const { progress, written, pass } = newProgress(true, 'events');
      const report = showLoading(progress);
      report(10_000, total);
      pass(1_000);
      for (let done = 20_000; done <= total; done += 10_000) report(done, total);
      report(total, total);
      assert.deepEqual(written, [`\r${bar}\x1b[K`, '\r\x1b[K', `${last}\n`]);
    });
  }

  it('shows nothing if it is quick', () => {
    const { progress, written, pass } = newProgress(false, 'events');
    const report = showLoading(progress);
    for (const done of [10_000, 20_000]) {
      pass(200);
      report(done, 20_000);
    }
    assert.deepEqual(written, []);
  });
});
