// The jobs of a test run. A job is a process that runs one slow file, or several quick files of one folder; the acceptance
// suite has its jobs once per engine, and in the long run once more for searches by SQL. The longest start first; otherwise one of them would run alone at the end.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export type Engine = 'sqlite' | 'postgres' | 'postgres by SQL';

export interface TestJob {
  /** Relative to the root of the repository. */
  readonly files: readonly string[];
  /** The engine of the service that acceptance tests are run against. */
  readonly engine?: Engine;
  /** Runs when all others are done. */
  readonly isAlone: boolean;
}

/**
 * Slow files, the slowest first, each in a process of its own. A name that ends with a slash: all files of that folder, in one
 * process, because they load the same packages. A run says which of its slowest files are missing. A file that does not
 * exist is an error.
 */
const SLOW: readonly string[] = [
  'test/console/',
  'test/store/postgres.test.ts',
  'test/postgres/memory/churn.test.ts',
  'test/differential/stream.test.ts',
  'test/memory/',
  'test/store/sqlite.test.ts',
  'test/faults/',
  'test/crash/power-cut.test.ts',
  'test/linearizability/nodes.test.ts',
  'test/sqlite/words.test.ts',
  'test/cli/shutdown.test.ts',
  'test/cli/move-interrupted.test.ts',
  'test/client/package.test.ts',
  'test/client/failures.test.ts',
  'test/http/docs.test.ts',
  'test/http/docs-look.test.ts',
  'test/http/front.test.ts',
  'test/places/candidates.test.ts',
  'test/places/build.test.ts',
  'test/http/agent-events-stream.test.ts',
  'test/http/access-matrix.test.ts',
  'test/cli/agents.test.ts',
  'test/cli/before-release.test.ts',
  'test/postgres/memory/first-load.test.ts',
  'test/http/deadline.test.ts',
  'test/cli/move.test.ts',
  'test/cli/serve.test.ts',
  'test/cli/restore.test.ts',
  'test/cli/backup.test.ts',
  'test/http/session-in-browser.test.ts',
  'test/crash/backup.test.ts',
  'test/nodes/linearizability.test.ts',
  'test/nodes/two-nodes.test.ts',
  'test/nodes/sessions.test.ts',
  'test/crash/kill.test.ts',
  'test/spatial/',
  'test/demo/demo.test.ts',
  'test/http/undo.test.ts',
  'test/cli/admin-token.test.ts',
  'test/sqlite/removals.test.ts',
];

/**
 * Slow files that only the long run has: several nodes, versions from the repository's history, crashes, clocks that jump, the demo,
 * installing packages, every metric of a service, plans of searches in large tables, clusters of their own, the conformance suite of MCP,
 * files that fill the memory, and most of what a browser shows: `npm test` signs in there and shows hostile text, and tests the rest over
 * HTTP.
 */
const LONG_ONLY: ReadonlySet<string> = new Set([
  'test/cli/hostile-files.test.ts',
  'test/cli/last-before-release.test.ts',
  'test/cli/load-progress.test.ts',
  'test/cli/move-interrupted.test.ts',
  'test/cli/move-password.test.ts',
  'test/client/examples.test.ts',
  'test/clients/generated.test.ts',
  'test/clients/tool-schemas.test.ts',
  'test/console/accessibility.test.ts',
  'test/console/actions.test.ts',
  'test/console/activity.test.ts',
  'test/console/agent-page.test.ts',
  'test/console/crowd.test.ts',
  'test/console/events.test.ts',
  'test/console/keyboard.test.ts',
  'test/console/lists.test.ts',
  'test/console/moderation.test.ts',
  'test/console/undo.test.ts',
  'test/crash/backup.test.ts',
  'test/demo/demo.test.ts',
  'test/differential/postgis.test.ts',
  'test/docs/database-backup.test.ts',
  'test/faults/clock-jumps.test.ts',
  'test/faults/import-on-small-disk.test.ts',
  'test/faults/wrong-clock.test.ts',
  'test/http/agent-events-stream.test.ts',
  'test/http/docs.test.ts',
  'test/http/docs-look.test.ts',
  'test/http/front.test.ts',
  'test/http/session-in-browser.test.ts',
  'test/http/slow-readers.test.ts',
  'test/mcp/conformance.test.ts',
  'test/metrics/dropped-lines.test.ts',
  'test/metrics/refusal-causes.test.ts',
  'test/metrics/service-metrics.test.ts',
  'test/nodes/failover.test.ts',
  'test/nodes/linearizability.test.ts',
  'test/nodes/outage.test.ts',
  'test/nodes/own-keys.test.ts',
  'test/nodes/restart.test.ts',
  'test/nodes/sessions.test.ts',
  'test/nodes/two-nodes.test.ts',
  'test/nodes/version-before.test.ts',
  'test/oauth/consent-page.test.ts',
  'test/oauth/real-clients.test.ts',
  'test/package/install.test.ts',
  'test/package/package.test.ts',
  'test/places/build.test.ts',
  'test/postgres/cluster.test.ts',
  'test/postgres/list-plans.test.ts',
  'test/postgres/memory/churn.test.ts',
  'test/postgres/migrate-beside.test.ts',
  'test/postgres/start.test.ts',
  'test/postgres/tls.test.ts',
  'test/spatial/growth.test.ts',
  'test/sqlite/folder-lock.test.ts',
  'test/sqlite/undo.test.ts',
]);

/** Files that measure how long clients wait. Beside other tests, they would measure those. */
const ALONE: ReadonlySet<string> = new Set([
  'test/attacks/attacks.test.ts',
  'test/nodes/failover.test.ts',
  'test/nodes/outage.test.ts',
  'test/nodes/restart.test.ts',
]);

/** Maximum number of quick files in a process. Starting a process costs as much as most of these files. */
const FILES_PER_JOB = 14;

/**
 * The named files, one per job, or all. `isLong`: the files whose tests do more in a long run, and those that only it has.
 * Throws for a file that does not exist.
 */
export function findJobs(root: string, named: readonly string[], isLong: boolean): TestJob[] {
  const all = globSync('test/**/*.test.ts', { cwd: root }).sort();
  const missing = [...SLOW, ...LONG_ONLY, ...ALONE].filter(
    (name) => !all.some((file) => isNamed(file, name)),
  );
  if (missing.length > 0) throw new Error(`scripts/test-jobs.ts names missing files: ${missing.join(', ')}`);
  if (named.length > 0)
    return named.flatMap((name) => findNamed(root, name)).flatMap((file) => toJobs([file]));
  const isIncluded = (file: string) =>
    isLong ? LONG_ONLY.has(file) || importsSizes(join(root, file)) : !LONG_ONLY.has(file);
  const bySql = isLong ? split(all.filter(isAcceptance)).map((files) => toJob(files, 'postgres by SQL')) : [];
  return [...split(all.filter(isIncluded)).flatMap(toJobs), ...bySql];
}

/** The files, slowest first, that SLOW lacks. */
export function findUnlisted(slowest: readonly string[]): string[] {
  const isListed = (file: string) => SLOW.some((name) => isNamed(file, name)) || ALONE.has(file);
  return [...new Set(slowest.filter((file) => !isListed(file)))];
}

/** Whether the name is that of the file, or of its folder with a slash. */
function isNamed(file: string, name: string): boolean {
  return name === (name.endsWith('/') ? `${dirname(file)}/` : file);
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
  const slow = [...SLOW, ...ALONE].map((name) => files.filter((file) => isNamed(file, name)));
  const quick = Map.groupBy(
    files.filter((file) => !slow.flat().includes(file)),
    dirname,
  );
  return [
    ...slow.filter((together) => together.length > 0),
    ...[...quick.values()].flatMap(inParts).sort((a, b) => b.length - a.length),
  ];
}

/** Parts of nearly the same length. */
function inParts(files: readonly string[]): string[][] {
  const parts = Math.ceil(files.length / FILES_PER_JOB);
  return Array.from({ length: parts }, (_, part) => files.filter((_, at) => at % parts === part));
}

function toJobs(files: readonly string[]): TestJob[] {
  if (!isAcceptance(files[0]!)) return [toJob(files)];
  return [toJob(files, 'sqlite'), toJob(files, 'postgres')];
}

function toJob(files: readonly string[], engine?: Engine): TestJob {
  const isAlone = ALONE.has(files[0]!);
  return engine ? { files, isAlone, engine } : { files, isAlone };
}

function isAcceptance(file: string): boolean {
  return file.startsWith('test/acceptance/');
}
