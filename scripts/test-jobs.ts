// What a run of the tests consists of: a job per test file, and two per file of the acceptance suite, one on each engine.
// The jobs are sorted so that the longest begin first; otherwise one of them would run alone at the end.
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export type Engine = 'sqlite' | 'postgres';

export interface TestJob {
  /** From the root of the repository. */
  readonly file: string;
  /** The engine of the service that an acceptance test is run against. */
  readonly engine?: Engine;
}

/**
 * Files that take long, the longest first; all others come behind them. A run says which of its slowest are missing here,
 * and a file that is gone is an error.
 */
const LONGEST_FIRST: readonly string[] = [];

/** What the arguments name, or all. `isLong`: only files whose tests do more in a long run. Throws for what is not there. */
export function findJobs(root: string, named: readonly string[], isLong: boolean): TestJob[] {
  const all = globSync('test/**/*.test.ts', { cwd: root }).sort();
  const gone = LONGEST_FIRST.filter((file) => !all.includes(file));
  if (gone.length > 0) throw new Error(`scripts/test-jobs.ts names files that are gone: ${gone.join(', ')}`);
  const files = named.length > 0 ? named.flatMap((name) => findNamed(root, name)) : all;
  return sortJobs(files.filter((file) => !isLong || hasLongSize(join(root, file))).flatMap(toJobs));
}

/** Those of these files, slowest first, that should be in the list of the longest. */
export function findUnlisted(slowest: readonly string[]): string[] {
  return [...new Set(slowest.filter((file) => !LONGEST_FIRST.includes(file)))];
}

function findNamed(root: string, name: string): string[] {
  const found = globSync(name).map((file) => relative(root, file));
  if (found.length === 0) throw new Error(`There is no test file ${name}.`);
  return found;
}

function hasLongSize(path: string): boolean {
  return readFileSync(path, 'utf8').includes("/support/sizes.ts'");
}

function toJobs(file: string): TestJob[] {
  if (!file.startsWith('test/acceptance/')) return [{ file }];
  return [
    { file, engine: 'sqlite' },
    { file, engine: 'postgres' },
  ];
}

function sortJobs(jobs: readonly TestJob[]): TestJob[] {
  const rank = ({ file }: TestJob) => {
    const at = LONGEST_FIRST.indexOf(file);
    return at < 0 ? LONGEST_FIRST.length : at;
  };
  return jobs.toSorted((a, b) => rank(a) - rank(b));
}
