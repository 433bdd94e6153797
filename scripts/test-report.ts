// Reports a test run while it runs: one line per job, every failure in full at once and again at the end, and the slowest jobs.

import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { inspect } from 'node:util';

export interface JobResult extends Timed {
  /** The job itself, or its files if there are several. */
  readonly parts: readonly Timed[];
  readonly tests: number;
  readonly passed: number;
  readonly failures: readonly string[];
}

interface Timed {
  readonly title: string;
  readonly seconds: number;
}

const SLOWEST = 10;
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
  const failures: string[] = [];
  let tests = 0;
  let passed = 0;
  let isWhole = false;
  const msByFile = new Map<string, number>();
  for await (const { type, data } of events) {
    clearTimeout(silence);
    if (type === 'test:stderr') process.stderr.write(data.message);
    // Node reports an error after the end of its test only as a diagnostic; the file then fails without a reason.
    if (type === 'test:diagnostic' && data.message.startsWith('Error: '))
      failures.push(`FAIL ${title}\n  ${data.message}`);
    if (type === 'test:pass' || type === 'test:fail') {
      if (data.nesting === 0) add(msByFile, relative(cwd, data.file ?? ''), data.details.duration_ms);
      const isSuite = data.details.type === 'suite';
      // A suite fails because of a hook, or because of its tests. Failed tests are reported on their own.
      if (type === 'test:fail' && !(isSuite && isOfTests(data.details.error))) failures.push(describe(data));
      if (!isSuite) tests++;
      if (!isSuite && type === 'test:pass') passed++;
      if (!isSuite && isDetailed) {
        const mark = type === 'test:pass' ? 'ok  ' : 'FAIL';
        console.log(`  ${mark} ${data.name} (${Math.round(data.details.duration_ms)} ms)`);
      }
    }
    if (type === 'test:summary' && !data.success && failures.length === 0) failures.push(`FAIL ${title}`);
    // The process of the file sends its own summary when its tests are done. The other summary is of this process.
    if (type === 'test:summary' && data.file !== undefined) isWhole = true;
    if (failures.length > 0) silence = setTimeout(end, SILENCE_MS);
  }
  clearTimeout(silence);
  if (!isWhole && failures.length === 0) failures.push(`FAIL ${title}\n  ${ENDED_EARLY}`);
  const seconds = (performance.now() - startedMs) / 1000;
  if (files.length === 1) return { title, seconds, parts: [{ title, seconds }], tests, passed, failures };
  const silent = files.filter((file) => !msByFile.has(file));
  if (failures.length === 0) failures.push(...silent.map((file) => `FAIL ${file}\n  The file has no tests.`));
  const parts = files.map((file) => ({ title: file, seconds: (msByFile.get(file) ?? 0) / 1000 }));
  return { title, seconds, parts, tests, passed, failures };
}

function add(sums: Map<string, number>, key: string, value: number): void {
  sums.set(key, (sums.get(key) ?? 0) + value);
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

/** Returns whether all passed. */
export function printSummary(results: readonly JobResult[]): boolean {
  const failures = results.flatMap((result) => result.failures);
  printFailures(failures);
  console.log('\nSlowest:');
  for (const { seconds, title } of slowest(results)) console.log(`  ${toSeconds(seconds)}  ${title}`);
  const passed = results.reduce((sum, result) => sum + result.passed, 0);
  console.log(`\n${passed} passed, ${failures.length} failed`);
  return failures.length === 0;
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
