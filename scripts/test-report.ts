// Reports a test run while it runs: one line per job, every failure in full at once and again at the end, the slowest jobs,
// and what failed at first and passed when it ran again.

import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

export interface JobResult extends Part {
  /** The job itself, or its files if there are several. A failure of their process as a whole is in none of them. */
  readonly parts: readonly Part[];
}

interface Part extends Timed {
  readonly tests: number;
  readonly passed: number;
  readonly failures: readonly string[];
}

/** What failed at first and passed when it ran again. */
export interface Unstable {
  readonly title: string;
  readonly failures: readonly string[];
}

interface Timed {
  readonly title: string;
  readonly seconds: number;
}

const SLOWEST = 10;

/** More unstable files than this are a fault of the change, or of the suite, and not of a busy machine. */
const MAX_UNSTABLE = 3;

const ENDED_EARLY = 'The process exited before its tests were done, or the file has no tests.';

/** A failed file that reports nothing for this long has left something open, and would never end. */
const SILENCE_MS = 60_000;

/**
 * Reads what the process of some test files reports, to its end. `isDetailed`: prints the name of every test. `end` ends a
 * process that hangs.
 */
export async function readResult(
  title: string,
  files: readonly string[],
  events: AsyncIterable<TestEvent>,
  { cwd, isDetailed, end }: { cwd: string; isDetailed: boolean; end: () => void },
): Promise<JobResult> {
  let silence: NodeJS.Timeout | undefined;
  const startedMs = performance.now();
  const whole = newTally();
  const tallies = new Map(files.map((file) => [file, newTally()]));
  let current = newTally(); // of the top-level test or suite that is being reported: its own result comes last
  let isWhole = false;
  const total = () => sum(whole, current, ...tallies.values());
  for await (const { type, data } of events) {
    clearTimeout(silence);
    if (type === 'test:stderr') process.stderr.write(data.message);
    // Node reports an error after the end of its test only as a diagnostic; the file then fails without a reason.
    if (type === 'test:diagnostic' && data.message.startsWith('Error: '))
      whole.failures.push(`FAIL ${title}\n  ${data.message}`);
    if (type === 'test:pass' || type === 'test:fail') {
      const isSuite = data.details.type === 'suite';
      // A suite fails because of a hook, or because of its tests. Failed tests are reported on their own.
      if (type === 'test:fail' && !(isSuite && isOfTests(data.details.error)))
        current.failures.push(describe(data));
      if (!isSuite) current.tests++;
      if (!isSuite && type === 'test:pass') current.passed++;
      if (!isSuite && isDetailed) {
        const mark = type === 'test:pass' ? 'ok  ' : 'FAIL';
        console.log(`  ${mark} ${data.name} (${Math.round(data.details.duration_ms)} ms)`);
      }
      if (data.nesting === 0) {
        current.ms = data.details.duration_ms;
        add(tallies.get(relative(cwd, data.file ?? '')) ?? whole, current);
        current = newTally();
      }
    }
    if (type === 'test:summary' && !data.success && total().failures.length === 0)
      whole.failures.push(`FAIL ${title}`);
    // The process of the file sends its own summary when its tests are done. The other summary is of this process.
    if (type === 'test:summary' && data.file !== undefined) isWhole = true;
    if (total().failures.length > 0) silence = setTimeout(end, SILENCE_MS);
  }
  clearTimeout(silence);
  if (!isWhole) whole.failures.push(`FAIL ${title}\n  ${ENDED_EARLY}`);
  if (files.length > 1 && whole.failures.length === 0) {
    for (const [file, { tests, failures }] of tallies)
      if (tests === 0) failures.push(`FAIL ${file}\n  The file has no tests.`);
  }
  const seconds = (performance.now() - startedMs) / 1000;
  const { ms: _, ...all } = total();
  if (files.length === 1) return { title, seconds, ...all, parts: [{ title, seconds, ...all }] };
  const parts = [...tallies].map(([file, { ms, ...part }]) => ({ title: file, seconds: ms / 1000, ...part }));
  return { title, seconds, ...all, parts };
}

interface Tally {
  ms: number;
  tests: number;
  passed: number;
  failures: string[];
}

function newTally(): Tally {
  return { ms: 0, tests: 0, passed: 0, failures: [] };
}

function add(to: Tally, more: Tally): void {
  to.ms += more.ms;
  to.tests += more.tests;
  to.passed += more.passed;
  to.failures.push(...more.failures);
}

function sum(...tallies: readonly Tally[]): Tally {
  const total = newTally();
  for (const tally of tallies) add(total, tally);
  return total;
}

function isOfTests(error: Error): boolean {
  return 'failureType' in error && error.failureType === 'subtestsFailed';
}

function describe({ name, file, line, details }: Extract<TestEvent, { type: 'test:fail' }>['data']): string {
  const { error } = details;
  return `FAIL ${name}\n  at ${file}:${line}\n${inspect(error.cause ?? error, { depth: 6 })}`;
}

export function printResult({ title, seconds, tests, failures }: JobResult): void {
  const mark = failures.length === 0 ? 'ok  ' : 'FAIL';
  const count = tests > 0 ? `${String(tests).padStart(5)} tests` : ' '.repeat(11);
  console.log(`${mark} ${toSeconds(seconds)} ${count}  ${title}`);
  printFailures(failures);
}

function printFailures(failures: readonly string[]): void {
  for (const failure of failures) console.log(`\n${failure}\n`);
}

/** Returns whether the run passed: nothing failed twice, and not too much once. */
export function printSummary(results: readonly JobResult[], unstable: readonly Unstable[]): boolean {
  const failures = results.flatMap((result) => result.failures);
  printFailures(failures);
  console.log('\nSlowest:');
  for (const { seconds, title } of slowest(results)) console.log(`  ${toSeconds(seconds)}  ${title}`);
  const passed = results.reduce((total, result) => total + result.passed, 0);
  console.log(`\n${passed} passed, ${failures.length} failed`);
  for (const { title, failures: first } of unstable) {
    console.log(`\nUNSTABLE ${title}: failed, and passed when it ran again. This is a bug: find its cause.`);
    printFailures(first);
  }
  const isStable = unstable.length <= MAX_UNSTABLE;
  if (!isStable)
    console.log(`\n${unstable.length} files are unstable; more than ${MAX_UNSTABLE} fail the run.`);
  return failures.length === 0 && isStable;
}

export function slowest(results: readonly JobResult[]): Timed[] {
  return results
    .flatMap(({ parts }) => parts)
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, SLOWEST);
}

function toSeconds(seconds: number): string {
  return `${seconds.toFixed(1).padStart(6)} s`;
}
