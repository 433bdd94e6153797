// The test command: types, lint, every test, and the acceptance suite against a real process. Arguments name test files
// to run alone. What the tests need from the machine is found, or installed on Debian as root, or named.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
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
  const [code] = (await once(child, 'exit')) as [number | null];
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

async function main(named: readonly string[]): Promise<void> {
  if (named.length > 0) return run('tests', process.execPath, ['--test', ...named]);
  const started = performance.now();
  await run('types', 'tsc', ['--project', '.']);
  await run('format and lint', 'biome', ['ci', '--error-on-warnings', colors, '.']);
  ensureMachine();
  const isAcceptance = (file: string) => file.startsWith('test/acceptance/');
  const files = globSync('test/**/*.test.ts', { cwd: ROOT }).sort();
  await run('tests', process.execPath, nodeTest(files.filter((file) => !isAcceptance(file))));
  await withAcceptanceTarget((env) =>
    run('acceptance', process.execPath, nodeTest(files.filter(isAcceptance)), env),
  );
  console.log(`\nAll passed in ${Math.round((performance.now() - started) / 1000)} s.`);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(`\n${(error as Error).message}`);
  process.exitCode = 1;
}
