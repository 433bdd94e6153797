// The build of the console, in a copy of its sources: it runs only when sources have changed.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '../support/service.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

describe('npm run build:web', () => {
  const folder = temporaryFolder();
  const dist = join(folder, 'web/dist');
  const script = () => readdirSync(join(dist, 'assets')).find((name) => name.endsWith('.js'))!;

  before(() => {
    const isSource = (path: string) => path !== join(ROOT, 'web/dist');
    for (const path of [
      'scripts/build-web.ts',
      'scripts/prestart.mjs',
      'package.json',
      'tsconfig.json',
      'web',
      'src/http/browser/pages',
    ]) {
      cpSync(join(ROOT, path), join(folder, path), { recursive: true, filter: isSource });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  });

  function run(name: string) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, 'scripts', name)], {
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  }
  const silent = { status: 0, stdout: '', stderr: '' };

  it('builds the first time, and says so in one line', () => {
    const { status, stdout, stderr } = run('build-web.ts');
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
    assert.match(stdout, /^Built the console in \d+\.\d s\.\n$/);
    assert.match(readFileSync(join(dist, 'index.html'), 'utf8'), new RegExp(`/admin/assets/${script()}`));
    assert.deepEqual(
      readdirSync(join(folder, 'web')).filter((name) => name.startsWith('.')),
      [],
    );
  });

  it('does nothing while nothing has changed, also before a start', () => {
    assert.deepEqual(run('build-web.ts'), silent);
    assert.deepEqual(run('prestart.mjs'), silent);
  });

  it('builds again before a start if a source has changed', () => {
    const before = script();
    appendFileSync(join(folder, 'web/src/main.tsx'), "\ndocument.documentElement.dataset.built = 'again';\n");
    assert.match(run('prestart.mjs').stdout, /^Built/);
    assert.notEqual(script(), before);
  });

  it('fails on an invalid source, but lets the service start with the previous console', () => {
    const before = script();
    appendFileSync(join(folder, 'web/src/main.tsx'), '\nconst = ;\n');
    assert.equal(run('build-web.ts').status, 1);
    const { status, stderr } = run('prestart.mjs');
    assert.equal(status, 0);
    assert.match(stderr, /^The console could not be built \(npm run build:web\): /m);
    assert.equal(script(), before);
  });

  it('keeps the existing build if Vite is not installed, and says what to do if there is none', () => {
    rmSync(join(folder, 'node_modules'));
    assert.deepEqual(run('prestart.mjs'), silent);
    assert.ok(existsSync(join(dist, 'index.html')));
    rmSync(dist, { recursive: true });
    const { status, stdout, stderr } = run('prestart.mjs');
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
    assert.match(stdout, /^The console is not built: run "npm ci"/);
  });
});
