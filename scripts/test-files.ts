// Runs test files in a process of their own and returns the result. Several files in one process: as a program, this file
// is the process, and its environment names them.
import { join } from 'node:path';
import { before, run } from 'node:test';
import { type JobResult, readResult } from './test-report.ts';

interface FileOptions {
  readonly title: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Timeout for each test and for the whole job: a file whose tests have passed can still have left something open. */
  readonly timeoutMs: number;
  readonly isDetailed: boolean;
}

/** A larger young generation: less garbage collection, which takes about a tenth of the CPU time otherwise. */
const NODE_FLAGS = ['--min-semi-space-size=16', '--max-semi-space-size=32'];

export function runFiles(files: readonly string[], options: FileOptions): Promise<JobResult> {
  const { title, cwd, env, timeoutMs, isDetailed } = options;
  const ending = new AbortController();
  const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(timeoutMs)]);
  const events = run({
    files: files.length === 1 ? [...files] : [import.meta.filename],
    cwd,
    execArgv: NODE_FLAGS,
    timeout: timeoutMs,
    signal,
    env: { ...env, TEST_FILES: JSON.stringify(files) },
  });
  return readResult(title, files, events, { cwd, isDetailed, end: () => ending.abort() });
}

if (import.meta.main) {
  // No test may begin before all files are imported. Otherwise `after` of a file was seen to run before its `before` had ended.
  const imported = Promise.withResolvers<void>();
  before(() => imported.promise);
  try {
    for (const file of JSON.parse(process.env.TEST_FILES!) as string[])
      await import(join(process.cwd(), file));
  } finally {
    imported.resolve();
  }
}
