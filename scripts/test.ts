// The test command: types, lint, the console's build, every test, and the acceptance suite against a real process. Arguments
// name test files to run alone. What the tests need from the machine is found, or installed on Debian as root, or named; a PostgreSQL is
// started for them and stopped again.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createDatabase, startSharedCluster } from '../test/support/postgres.ts';
import { temporaryFolder } from '../test/support/service.ts';
import { withAcceptanceTarget } from './acceptance-target.ts';
import { ensureMachine } from './machine.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

async function run(title: string, command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  console.log(`\n== ${title}`);
  const child = spawn(command, args, {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, ...CACHE, ...env },
  });
  const kill = () => child.kill();
  process.once('exit', kill);
  const [code] = (await once(child, 'exit')) as [number | null];
  process.off('exit', kill);
  if (code !== 0) throw new Error(`${title} failed`);
}

/** Halves what it costs to start a process; the tests start many. */
const CACHE = { NODE_COMPILE_CACHE: `${ROOT}/node_modules/.cache/node` };

const colors = `--colors=${process.stdout.isTTY ? 'force' : 'off'}`;
const nodeTest = (files: readonly string[]) => [
  '--test',
  '--test-reporter=./scripts/test-reporter.ts',
  '--test-concurrency=2',
  ...files,
];

/** Runs tests with one cluster for all of them: TEST_POSTGRES is its administrator's address. */
async function withPostgres(tests: (env: { TEST_POSTGRES: string }) => Promise<void>): Promise<void> {
  ensureMachine();
  const cluster = await startSharedCluster();
  try {
    await tests({ TEST_POSTGRES: cluster.url() });
  } finally {
    await cluster.remove();
  }
}

async function main(named: readonly string[]): Promise<void> {
  const buildConsole = () => run('console', process.execPath, ['scripts/build-web.ts']);
  if (named.length > 0) {
    await buildConsole();
    return withPostgres((env) => run('tests', process.execPath, ['--test', ...named], env));
  }
  const started = performance.now();
  await run('types', 'tsc', ['--project', '.']);
  await run('types of the console', 'tsc', ['--project', 'web']);
  await run('format and lint', 'biome', ['ci', '--error-on-warnings', colors, '.']);
  await buildConsole();
  const isAcceptance = (file: string) => file.startsWith('test/acceptance/');
  const files = globSync('test/**/*.test.ts', { cwd: ROOT }).sort();
  await withPostgres(async (env) => {
    await run('tests', process.execPath, nodeTest(files.filter((file) => !isAcceptance(file))), env);
    const engines = {
      sqlite: { DATA_DIR: temporaryFolder() },
      postgres: { DATABASE_URL: await createDatabase(env.TEST_POSTGRES) },
    };
    for (const [engine, data] of Object.entries(engines)) {
      await withAcceptanceTarget(data, (target) =>
        run(`acceptance on ${engine}`, process.execPath, nodeTest(files.filter(isAcceptance)), target),
      );
    }
  });
  console.log(`\nAll passed in ${Math.round((performance.now() - started) / 1000)} s.`);
}

// So that what was started is ended: without this, a signal ends the process and no handler of 'exit' runs.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(`\n${(error as Error).message}`);
  process.exitCode = 1;
}
