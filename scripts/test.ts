// The test command: types, lint and every test, in one queue that keeps all cores busy; then the tests that measure how long
// clients wait, and once more the files that failed. The acceptance suite runs against a real process of each engine. Arguments name the test files to run;
// --long runs the tests that have a long size, in that size. Programs that the tests need are found, or installed (on
// Debian, as root), or named in an error.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { createDatabase, startSharedCluster } from '../test/support/postgres.ts';
import { launchService } from '../test/support/process.ts';
import { temporaryFolder } from '../test/support/service.ts';
import { type AcceptanceTarget, startAcceptanceTarget } from './acceptance-target.ts';
import { ensureMachine } from './machine.ts';
import { runFiles } from './test-files.ts';
import { type Engine, findJobs, findUnlisted, type TestJob } from './test-jobs.ts';
import { type Job, runAll } from './test-queue.ts';
import { type JobResult, printResult, printSummary, slowest } from './test-report.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** More than there are cores, because tests also wait: for timers, disks and processes. */
const AT_ONCE = availableParallelism() + 2;

/** Timeout of a job. */
const TIMEOUT_MS = 20 * 60_000;
const LONG_TIMEOUT_MS = 60 * 60_000;

/** Halves the cost of starting a process; the tests start many. */
const CACHE = { NODE_COMPILE_CACHE: `${ROOT}/node_modules/.cache/node` };

/** Runs a program and shows its output only if it fails. */
async function check(title: string, command: string, args: readonly string[]): Promise<JobResult> {
  const startedMs = performance.now();
  const failures: string[] = [];
  try {
    await promisify(execFile)(command, args, { cwd: ROOT, env: { ...process.env, ...CACHE } });
  } catch (error) {
    const { stdout, stderr, message } = error as Error & { stdout?: string; stderr?: string };
    failures.push(`FAIL ${title}\n${`${stdout ?? ''}${stderr ?? ''}` || message}`);
  }
  const seconds = (performance.now() - startedMs) / 1000;
  const result = { title, seconds, tests: 0, passed: 0, failures };
  return { ...result, parts: [result] };
}

/** Several threads would check some types more than once; a next run checks only what has changed. */
const TSC = ['--singleThreaded', '--incremental', '--tsBuildInfoFile', 'node_modules/.cache/types.json'];
const colors = `--colors=${process.stdout.isTTY ? 'force' : 'off'}`;
const CHECKS: readonly Job[] = [
  { run: () => check('types', 'tsc', ['--project', '.', ...TSC]) },
  { run: () => check('types of the console', 'tsc', ['--project', 'web', '--singleThreaded']) },
  { run: () => check('format and lint', 'biome', ['ci', '--error-on-warnings', colors, '.']) },
];

async function test(
  { files, engine }: TestJob,
  env: NodeJS.ProcessEnv,
  targets: Targets,
  isDetailed: boolean,
): Promise<JobResult> {
  const name = files.length === 1 ? files[0]! : `${files.length} files of ${dirname(files[0]!)}`;
  const title = engine ? `${name} on ${engine}` : name;
  try {
    const target = engine && (await targets.get(engine)!).env;
    const all = { ...process.env, ...CACHE, ...env, ...target };
    const timeoutMs = env.LONG ? LONG_TIMEOUT_MS : TIMEOUT_MS;
    return await runFiles(files, { title, cwd: ROOT, env: all, timeoutMs, isDetailed });
  } catch (error) {
    const failures = [`FAIL ${title}\n${(error as Error).stack}`];
    return { title, seconds: 0, parts: [], tests: 0, passed: 0, failures };
  }
}

/** Environments of the acceptance suite by engine; each resolves once its service has started. */
type Targets = ReadonlyMap<Engine, Promise<AcceptanceTarget>>;

function startTargets(postgres: string, engines: ReadonlySet<Engine>): Targets {
  const onPostgres = async (SEARCH: string) =>
    startAcceptanceTarget({ DATABASE_URL: await createDatabase(postgres), SEARCH });
  const starts: Record<Engine, () => Promise<AcceptanceTarget>> = {
    sqlite: () => startAcceptanceTarget({ DATA_DIR: temporaryFolder() }),
    postgres: () => onPostgres('memory'),
    'postgres by SQL': () => onPostgres('database'),
  };
  const targets = new Map([...engines].map((engine) => [engine, starts[engine]()]));
  for (const target of targets.values()) target.catch(() => {}); // the tests that need it fail
  return targets;
}

async function stopTargets(targets: Targets): Promise<void> {
  for (const target of await Promise.allSettled(targets.values())) {
    if (target.status === 'fulfilled') await target.value.stop();
  }
}

async function main(): Promise<boolean> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { long: { type: 'boolean', default: false } },
  });
  const isNamed = positionals.length > 0;
  const tests = findJobs(ROOT, positionals, values.long);
  const startedMs = performance.now();
  ensureMachine();
  const preparing = prepare(tests, values.long);
  preparing.catch(() => {}); // the first test reports it
  try {
    const toJob = (job: TestJob): Job => ({
      run: async () => {
        const { env, targets } = await preparing;
        return test(job, env, targets, isNamed);
      },
      only: (file) => toJob({ ...job, files: [job.files[file]!] }),
    });
    const beside = tests.filter(({ isAlone }) => !isAlone).map(toJob);
    const alone = tests.filter(({ isAlone }) => isAlone).map(toJob);
    const jobs = isNamed || values.long ? beside : [...CHECKS, ...beside];
    const { results, unstable } = await runAll(jobs, alone, AT_ONCE);
    const isPassed = printSummary([(await preparing).web, ...results], unstable);
    if (!isNamed && !values.long) reportUnlisted(results);
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    console.log(`\n${isPassed ? 'All passed' : 'Failed'} in ${seconds} s.`);
    return isPassed;
  } finally {
    const { targets, cluster } = await preparing;
    await stopTargets(targets);
    await cluster.remove();
  }
}

/** What the tests need: the built console, a cluster of PostgreSQL and the services of the acceptance suite. */
async function prepare(tests: readonly TestJob[], isLong: boolean) {
  const [web, cluster] = await Promise.all([
    check('console', process.execPath, ['scripts/build-web.ts']),
    startSharedCluster(),
    fillCache(),
  ]);
  printResult(web);
  const env = { TEST_POSTGRES: cluster.url(), LONG: isLong ? '1' : '' };
  const targets = startTargets(cluster.url(), new Set(tests.flatMap(({ engine }) => engine ?? [])));
  return { web, cluster, env, targets };
}

/** Fills the cache with the service. A process writes to it only when it ends: without this, the first tests all compile the same code. */
async function fillCache(): Promise<void> {
  if (existsSync(CACHE.NODE_COMPILE_CACHE)) return;
  const service = await launchService({ ...CACHE, DATA_DIR: temporaryFolder() });
  service.child.kill('SIGTERM');
  await service.ended;
}

function reportUnlisted(results: readonly JobResult[]): void {
  const files = slowest(results).flatMap(({ title }) => /^test\S+/.exec(title) ?? []);
  const unlisted = findUnlisted(files);
  if (unlisted.length > 0) console.log(`\nAdd to SLOW in scripts/test-jobs.ts: ${unlisted.join(', ')}`);
}

// Without this, a signal ends the process, no handler of 'exit' runs, and the programs it started keep running.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  console.error(`\n${(error as Error).message}`);
  process.exitCode = 1;
}
