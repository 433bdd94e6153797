// What `npm test` does with test files that fail: they run once more, alone. The files are made up; a process of their own runs them.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from './support/service.ts';

const SCRIPTS = join(import.meta.dirname, '../scripts');

/** A body that notes its start and end, and fails unless `file` is there. */
const noting = (name: string, failure: string) => `
  import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
  import { it } from 'node:test';
  it('${name}', async () => {
    appendFileSync('order.txt', '+${name} ');
    await new Promise((done) => setTimeout(done, 200));
    appendFileSync('order.txt', '-${name} ');
    ${failure}
  });
  it('another of ${name}', () => {});`;
const passes = (name: string) => noting(name, '');
const failsOnce = (name: string) =>
  noting(
    name,
    `if (!existsSync('${name}.txt')) { writeFileSync('${name}.txt', ''); throw new Error('boom ${name}'); }`,
  );
const failsAlways = (name: string) => noting(name, `throw new Error('boom ${name}');`);
const exitsOnce = (name: string) =>
  noting(name, `if (!existsSync('${name}.txt')) { writeFileSync('${name}.txt', ''); process.exit(0); }`);

interface Run {
  readonly isPassed: boolean;
  /** What is printed after the last `N passed, N failed`, and that line. */
  readonly end: string;
  readonly output: string;
  /** The starts and ends of tests, in order. */
  readonly order: string;
}

/** Runs jobs, each of some files, all at once, with the queue and the summary of `npm test`. */
async function run(...jobs: string[][]): Promise<Run> {
  const cwd = temporaryFolder();
  const files = jobs.map((bodies, job) =>
    bodies.map((body, at) => {
      const name = `${job}-${at}.test.mjs`;
      writeFileSync(join(cwd, name), body);
      return name;
    }),
  );
  const script = `import { runFiles } from ${JSON.stringify(join(SCRIPTS, 'test-files.ts'))};
    import { runAll } from ${JSON.stringify(join(SCRIPTS, 'test-queue.ts'))};
    import { printSummary } from ${JSON.stringify(join(SCRIPTS, 'test-report.ts'))};
    const options = { cwd: ${JSON.stringify(cwd)}, env: process.env, timeoutMs: 60_000, isDetailed: false };
    const toJob = (files) => ({
      run: () => runFiles(files, { ...options, title: files.join(' and ') }),
      only: (at) => toJob([files[at]]),
    });
    const { results, unstable } = await runAll(${JSON.stringify(files)}.map(toJob), [], 9);
    process.exitCode = printSummary(results, unstable) ? 0 : 1;`;
  writeFileSync(join(cwd, 'run.mjs'), script);
  // Without the variable of the process that runs this file: with it, node:test does not run files.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { promise, resolve } = Promise.withResolvers<Omit<Run, 'order'>>();
  execFile(process.execPath, [join(cwd, 'run.mjs')], { env, cwd }, (error, stdout) =>
    resolve({
      isPassed: error === null,
      output: stdout,
      end: /\d+ passed, \d+ failed$[\s\S]*/m.exec(stdout)?.[0] ?? '',
    }),
  );
  return { ...(await promise), order: readFileSync(join(cwd, 'order.txt'), 'utf8') };
}

describe('the queue of a test run', { concurrency: 3 }, () => {
  it('passes without a second try if nothing fails', async () => {
    const { isPassed, output, end } = await run([passes('a'), passes('b')], [passes('c')]);
    assert.ok(isPassed, output);
    assert.equal(end, '6 passed, 0 failed\n');
    assert.doesNotMatch(output, /Once more|UNSTABLE/);
  });

  it('runs a file that fails once again, alone, and lists it as unstable with its failure, last', async () => {
    const { isPassed, output, end, order } = await run(
      [passes('a'), failsOnce('b')],
      [passes('c')],
      [failsOnce('d')],
    );
    assert.ok(isPassed, output);
    assert.match(end, /^8 passed, 0 failed\n\nUNSTABLE /);
    assert.match(end, /^UNSTABLE 0-1\.test\.mjs: failed, and [\s\S]*boom b/m);
    assert.match(end, /^UNSTABLE 2-0\.test\.mjs: failed, and [\s\S]*boom d/m);
    assert.match(order, /(\+b -b \+d -d|\+d -d \+b -b) $/, 'one at a time, after all others');
    assert.equal(order.match(/\+a|\+c/g)?.length, 2, 'what passed does not run again');
  });

  it('fails if a file fails always, and names what is unstable beside it', async () => {
    const { isPassed, output, end } = await run([passes('a'), failsAlways('b')], [failsOnce('c')]);
    assert.ok(!isPassed, output);
    assert.match(end, /^5 passed, 1 failed\n\nUNSTABLE 1-0/);
    assert.doesNotMatch(end, /UNSTABLE 0-/);
  });

  it('fails if four files fail once', async () => {
    const { isPassed, output, end } = await run(
      [failsOnce('a'), failsOnce('b')],
      [failsOnce('c')],
      [failsOnce('d')],
    );
    assert.ok(!isPassed, output);
    assert.equal(end.match(/^UNSTABLE /gm)?.length, 4);
    assert.match(end, /^8 passed, 0 failed\n[\s\S]*4 files are unstable; more than 3 fail the run\.\n$/);
  });

  it('runs all files of a process again that ended early: the others may not have run', async () => {
    const { isPassed, output, end, order } = await run([exitsOnce('a'), passes('b')]);
    assert.ok(isPassed, output);
    assert.equal(order, '+a -a +a -a +b -b ');
    assert.match(
      end,
      /^4 passed, 0 failed\n\nUNSTABLE 0-0\.test\.mjs and 0-1\.test\.mjs: [\s\S]*exited before/,
    );
  });

  it('fails if a file beside one that fails once has no tests', async () => {
    const { isPassed, output } = await run([failsOnce('a'), '']);
    assert.ok(!isPassed, output);
    assert.match(output, /The file has no tests|the file has no tests/);
  });
});
