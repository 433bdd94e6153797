// Runs one test file in a process of its own and returns its result.
import { run } from 'node:test';
import { type JobResult, readResult } from './test-report.ts';

interface FileOptions {
  readonly title: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Timeout for each test and for the whole file: a file whose tests have passed can still have left something open. */
  readonly timeoutMs: number;
  readonly isDetailed: boolean;
}

export function runFile(file: string, options: FileOptions): Promise<JobResult> {
  const { title, cwd, env, timeoutMs, isDetailed } = options;
  const ending = new AbortController();
  const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(timeoutMs)]);
  const events = run({ files: [file], cwd, timeout: timeoutMs, signal, env });
  return readResult(title, events, { isDetailed, end: () => ending.abort() });
}
