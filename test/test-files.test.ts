// How test files that end in an unusual way are reported. They are run by a process of their own, as in `npm test`.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import type { JobResult } from '../scripts/test-report.ts';
import { temporaryFolder } from './support/service.ts';

const RUNNER = join(import.meta.dirname, '../scripts/test-files.ts');

async function resultOf(body: string, timeoutMs = 60_000, ...others: string[]): Promise<JobResult> {
  const cwd = temporaryFolder();
  const files = [body, ...others].map((text, at) => {
    writeFileSync(join(cwd, `${at}.test.mjs`), `import { it } from 'node:test';\n${text}`);
    return `${at}.test.mjs`;
  });
  const options = { title: 'a', cwd, timeoutMs, isDetailed: false };
  const script = `import { runFiles } from ${JSON.stringify(RUNNER)};
    const result = await runFiles(${JSON.stringify(files)}, { ...${JSON.stringify(options)}, env: process.env });
    console.log(JSON.stringify(result));`;
  writeFileSync(join(cwd, 'run.mjs'), script);
  // Without the variable of the process that runs this file: with it, node:test does not run files.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return JSON.parse(
    (await promisify(execFile)(process.execPath, [join(cwd, 'run.mjs')], { env })).stdout,
  ) as JobResult;
}

describe('a test file', { concurrency: 3 }, () => {
  it('passes if its tests pass', async () => {
    const { tests, passed, failures } = await resultOf("it('a', () => {}); it('b', () => {});");
    assert.deepEqual({ tests, passed, failures }, { tests: 2, passed: 2, failures: [] });
  });

  it('counts what passed, also beside errors that belong to no test', async () => {
    const late = "it('c', () => { setTimeout(() => { throw new Error('late'); }, 0); });";
    const { passed, failures } = await resultOf(
      `it('a', () => {}); it('b', () => { throw new Error(); }); ${late}`,
    );
    assert.equal(passed, 2);
    assert.ok(failures.length > 1);
  });

  const failing: Readonly<Record<string, readonly [body: string, reason: RegExp]>> = {
    'a test fails': ["it('a', () => { throw new Error('boom'); });", /boom/],
    'it has a syntax error': ["it('a', () => { ) );", /FAIL/],
    'it throws': ["throw new Error('boom');", /FAIL/],
    'an error is thrown after its test': [
      "it('a', () => { setTimeout(() => { throw new Error('late'); }, 10); }); it('b', async () => { await new Promise((done) => setTimeout(done, 100)); });",
      /late/,
    ],
    'it exits with an error': ["it('a', () => { process.exit(3); });", /FAIL/],
    'it exits without an error before its tests are done': [
      "it('a', () => { process.exit(0); }); it('b', () => { throw new Error('boom'); });",
      /exited before its tests were done/,
    ],
    'it exits without an error after some of its tests': [
      "it('a', async () => { await new Promise((done) => setTimeout(done, 300)); }); it('b', async () => { await new Promise((done) => setTimeout(done, 300)); process.exit(0); });",
      /exited before its tests were done/,
    ],
    'it has no tests': ['', /the file has no tests/],
  };
  for (const [name, [body, reason]] of Object.entries(failing)) {
    it(`fails if ${name}`, async () => {
      const { failures } = await resultOf(body);
      assert.match(failures.join('\n'), reason);
    });
  }

  for (const [name, body] of [
    ['a test never ends', "it('a', () => new Promise(() => { setInterval(() => {}, 1_000); }));"],
    [
      'its tests have passed, but it left something open',
      "it('a', () => { setInterval(() => {}, 1_000); });",
    ],
    ['it waits for ever before its tests', 'setInterval(() => {}, 1_000); await new Promise(() => {});'],
  ] as const) {
    it(`is ended and fails if ${name}`, { timeout: 60_000 }, async () => {
      const { failures } = await resultOf(body, 2_000);
      assert.ok(failures.length > 0);
    });
  }
});

describe('several test files in one process', { concurrency: 3 }, () => {
  const PASSING = "it('a', () => {}); it('b', () => new Promise((done) => setTimeout(done, 20)));";

  it('pass if all of their tests pass, and are timed one by one', async () => {
    const { tests, passed, failures, parts } = await resultOf(PASSING, 60_000, PASSING);
    assert.deepEqual({ tests, passed, failures }, { tests: 4, passed: 4, failures: [] });
    assert.deepEqual(
      parts.map(({ title, seconds }) => [title, seconds > 0.01]),
      [
        ['0.test.mjs', true],
        ['1.test.mjs', true],
      ],
    );
  });

  const failing: Readonly<Record<string, readonly [body: string, reason: RegExp]>> = {
    'a test of the last fails': ["it('a', () => { throw new Error('boom'); });", /boom[\s\S]*1\.test\.mjs/],
    'the last throws': ["throw new Error('boom');", /FAIL/],
    'the last has no tests': ['', /FAIL 1\.test\.mjs\n {2}The file has no tests/],
    'the last exits': ["it('a', () => { process.exit(0); });", /exited before its tests were done/],
  };
  for (const [name, [body, reason]] of Object.entries(failing)) {
    it(`fail if ${name}`, async () => {
      const { failures } = await resultOf(PASSING, 60_000, body);
      assert.match(failures.join('\n'), reason);
    });
  }
});
