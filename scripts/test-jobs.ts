// The jobs of a test run: one per test file, two per file of the acceptance suite, one on each engine. The longest start
// first; otherwise one of them would run alone at the end.
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export type Engine = 'sqlite' | 'postgres';

export interface TestJob {
  /** Relative to the root of the repository. */
  readonly file: string;
  /** The engine of the service that an acceptance test is run against. */
  readonly engine?: Engine;
}

/**
 * Slow files, the slowest first; all others follow. A run says which of its slowest files are missing here. A file that does
 * not exist is an error.
 */
const LONGEST_FIRST: readonly string[] = [
  'test/console/accessibility.test.ts',
  'test/cli/shutdown.test.ts',
  'test/cli/move-interrupted.test.ts',
  'test/console/actions.test.ts',
  'test/console/signing-in.test.ts',
  'test/console/lists.test.ts',
  'test/cli/restore.test.ts',
  'test/cli/import-roundtrip.test.ts',
  'test/cli/move.test.ts',
  'test/store/postgres.test.ts',
  'test/cli/serve.test.ts',
  'test/cli/import.test.ts',
  'test/http/session-in-browser.test.ts',
  'test/differential/stream.test.ts',
  'test/console/hostile-text.test.ts',
  'test/crash/backup.test.ts',
  'test/console/crowd.test.ts',
  'test/http/edits.test.ts',
  'test/cli/hostile-files.test.ts',
  'test/nodes/outage.test.ts',
  'test/store/sqlite.test.ts',
  'test/nodes/two-nodes.test.ts',
  'test/nodes/sessions.test.ts',
  'test/http/access-matrix.test.ts',
  'test/console/secrets.test.ts',
  'test/http/agent-events-stream.test.ts',
  'test/crash/kill.test.ts',
  'test/demo/demo.test.ts',
  'test/cli/import-stop.test.ts',
  'test/http/text.test.ts',
  'test/http/fuzz.test.ts',
  'test/http/slow-readers.test.ts',
  'test/cli/import-formats.test.ts',
  'test/http/docs.test.ts',
  'test/nodes/own-keys.test.ts',
  'test/differential/postgis.test.ts',
  'test/spatial/event-index.test.ts',
  'test/http/for-agents.test.ts',
  'test/http/idempotency.test.ts',
  'test/cli/mcp.test.ts',
  'test/cli/load-progress.test.ts',
  'test/mcp/tools.test.ts',
  'test/http/rate-limit.test.ts',
];

/** Slow files that only the long run has: several nodes, crashes, the demo, and a browser for what is also tested over HTTP. */
const LONG_ONLY: ReadonlySet<string> = new Set([
  'test/cli/move-interrupted.test.ts',
  'test/console/crowd.test.ts',
  'test/crash/backup.test.ts',
  'test/demo/demo.test.ts',
  'test/http/session-in-browser.test.ts',
  'test/nodes/failover.test.ts',
  'test/nodes/outage.test.ts',
  'test/nodes/own-keys.test.ts',
  'test/nodes/sessions.test.ts',
  'test/nodes/two-nodes.test.ts',
]);

/**
 * The named files, or all. `isLong`: the files whose tests do more in a long run, and those that only it has. Throws for a
 * file that does not exist.
 */
export function findJobs(root: string, named: readonly string[], isLong: boolean): TestJob[] {
  const all = globSync('test/**/*.test.ts', { cwd: root }).sort();
  const missing = [...LONGEST_FIRST, ...LONG_ONLY].filter((file) => !all.includes(file));
  if (missing.length > 0) throw new Error(`scripts/test-jobs.ts names missing files: ${missing.join(', ')}`);
  if (named.length > 0) return sortJobs(named.flatMap((name) => findNamed(root, name)).flatMap(toJobs));
  const isIncluded = (file: string) =>
    isLong ? LONG_ONLY.has(file) || importsSizes(join(root, file)) : !LONG_ONLY.has(file);
  return sortJobs(all.filter(isIncluded).flatMap(toJobs));
}

/** The files, slowest first, that LONGEST_FIRST lacks. */
export function findUnlisted(slowest: readonly string[]): string[] {
  return [...new Set(slowest.filter((file) => !LONGEST_FIRST.includes(file)))];
}

function findNamed(root: string, name: string): string[] {
  const found = globSync(name).map((file) => relative(root, file));
  if (found.length === 0) throw new Error(`There is no test file ${name}.`);
  return found;
}

/** Whether the file imports test/support/sizes.ts, directly or through other files in test/. */
function importsSizes(path: string, seen = new Set<string>()): boolean {
  if (path.endsWith('/test/support/sizes.ts')) return true;
  if (seen.has(path) || !path.includes('/test/')) return false;
  seen.add(path);
  const targets = readFileSync(path, 'utf8').matchAll(/^(?:import|export|\}).* from '(\.[^']+\.ts)';$/gm);
  return [...targets].some(([, target]) => importsSizes(join(path, '..', target!), seen));
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
