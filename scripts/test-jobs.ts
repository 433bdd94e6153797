// The jobs of a test run. A job is a process that runs one slow file, or several quick files of one folder; the acceptance
// suite has its jobs twice, once per engine. The longest start first; otherwise one of them would run alone at the end.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export type Engine = 'sqlite' | 'postgres';

export interface TestJob {
  /** Relative to the root of the repository. */
  readonly files: readonly string[];
  /** The engine of the service that acceptance tests are run against. */
  readonly engine?: Engine;
  /** Runs when all others are done. */
  readonly isAlone: boolean;
}

/** Slow files, the slowest first. A run says which of its slowest files are missing. A file that does not exist is an error. */
const SLOW: readonly string[] = [
  'test/console/accessibility.test.ts',
  'test/cli/shutdown.test.ts',
  'test/cli/move-interrupted.test.ts',
  'test/console/actions.test.ts',
  'test/console/signing-in.test.ts',
  'test/http/access-matrix.test.ts',
  'test/store/sqlite.test.ts',
  'test/http/agent-events-stream.test.ts',
  'test/console/lists.test.ts',
  'test/cli/serve.test.ts',
  'test/store/postgres.test.ts',
  'test/cli/hostile-files.test.ts',
  'test/cli/restore.test.ts',
  'test/cli/move.test.ts',
  'test/mcp/tools.test.ts',
  'test/http/edits.test.ts',
  'test/http/session-in-browser.test.ts',
  'test/http/slow-readers.test.ts',
  'test/differential/stream.test.ts',
  'test/crash/backup.test.ts',
  'test/console/crowd.test.ts',
  'test/nodes/outage.test.ts',
  'test/nodes/two-nodes.test.ts',
  'test/nodes/sessions.test.ts',
  'test/crash/kill.test.ts',
  'test/demo/demo.test.ts',
  'test/cli/import.test.ts',
  'test/cli/import-roundtrip.test.ts',
  'test/spatial/event-index.test.ts',
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

/** Files that measure how long clients wait. Beside other tests, they would measure those. */
const ALONE: ReadonlySet<string> = new Set(['test/attacks/attacks.test.ts']);

/** Maximum number of quick files in a process. Starting a process costs as much as most of these files. */
const FILES_PER_JOB = 8;

/**
 * The named files, one per job, or all. `isLong`: the files whose tests do more in a long run, and those that only it has.
 * Throws for a file that does not exist.
 */
export function findJobs(root: string, named: readonly string[], isLong: boolean): TestJob[] {
  const all = globSync('test/**/*.test.ts', { cwd: root }).sort();
  const missing = [...SLOW, ...LONG_ONLY, ...ALONE].filter((file) => !all.includes(file));
  if (missing.length > 0) throw new Error(`scripts/test-jobs.ts names missing files: ${missing.join(', ')}`);
  if (named.length > 0)
    return named.flatMap((name) => findNamed(root, name)).flatMap((file) => toJobs([file]));
  const isIncluded = (file: string) =>
    isLong ? LONG_ONLY.has(file) || importsSizes(join(root, file)) : !LONG_ONLY.has(file);
  return split(all.filter(isIncluded)).flatMap(toJobs);
}

/** The files, slowest first, that SLOW lacks. */
export function findUnlisted(slowest: readonly string[]): string[] {
  return [...new Set(slowest.filter((file) => !SLOW.includes(file) && !ALONE.has(file)))];
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

function split(files: readonly string[]): string[][] {
  const single = [...SLOW, ...ALONE];
  const quick = Map.groupBy(
    files.filter((file) => !single.includes(file)),
    dirname,
  );
  return [
    ...single.filter((file) => files.includes(file)).map((file) => [file]),
    ...[...quick.values()].flatMap(inParts).sort((a, b) => b.length - a.length),
  ];
}

/** Parts of nearly the same length. */
function inParts(files: readonly string[]): string[][] {
  const parts = Math.ceil(files.length / FILES_PER_JOB);
  return Array.from({ length: parts }, (_, part) => files.filter((_, at) => at % parts === part));
}

function toJobs(files: readonly string[]): TestJob[] {
  const isAlone = ALONE.has(files[0]!);
  if (!files[0]!.startsWith('test/acceptance/')) return [{ files, isAlone }];
  return [
    { files, isAlone, engine: 'sqlite' },
    { files, isAlone, engine: 'postgres' },
  ];
}
