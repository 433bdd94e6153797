// Builds the console into web/dist, unless web/dist is already built from the same sources. Without Vite (no development
// packages), an existing build stays; without a build, the service shows a note instead of the console.
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const WEB = join(ROOT, 'web');
const DIST = join(WEB, 'dist');
const STAMP = '.sources';
/** The style sheet and the icon, which other pages of the service use, too. */
const SHARED = ['shared.css', 'icon.svg'].map((name) => `../src/http/browser/pages/${name}`);

/** Hash of everything that the build depends on. */
function hashSources(): string {
  const hash = createHash('sha256');
  const files = globSync(['index.html', 'vite.config.ts', 'tsconfig.json', 'src/**/*.*'], {
    cwd: WEB,
  }).sort();
  for (const file of [...files, ...SHARED]) hash.update(`${file}\n`).update(readFileSync(join(WEB, file)));
  for (const name of ['vite', 'preact']) hash.update(findVersion(name) ?? '');
  return hash.digest('hex');
}

function findVersion(name: string): string | undefined {
  try {
    return JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')).version;
  } catch {
    return undefined;
  }
}

function readStamp(): string | undefined {
  try {
    return readFileSync(join(DIST, STAMP), 'utf8');
  } catch {
    return undefined;
  }
}

/** Builds into a separate folder and renames it at the end, so that a service that starts meanwhile reads a complete build. */
async function build(sources: string): Promise<void> {
  const { build } = await import('vite');
  const output = join(WEB, `.dist-${process.pid}`);
  const old = `${output}-old`;
  try {
    await build({
      configFile: join(WEB, 'vite.config.ts'),
      configLoader: 'native',
      logLevel: 'warn',
      build: { outDir: output, emptyOutDir: true },
    });
    writeFileSync(join(output, STAMP), sources);
    unless('ENOENT', () => renameSync(DIST, old));
    // A concurrent build may have finished first.
    unless('ENOTEMPTY', () => renameSync(output, DIST));
  } finally {
    for (const folder of [output, old]) rmSync(folder, { recursive: true, force: true });
  }
}

function unless(code: string, action: () => void): void {
  try {
    action();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== code) throw error;
  }
}

const sources = hashSources();
if (readStamp() !== sources) {
  if (findVersion('vite') === undefined) {
    if (!existsSync(join(DIST, 'index.html')))
      console.log('The console is not built: run "npm ci" without --omit=dev, then "npm run build:web".');
  } else {
    const startMs = performance.now();
    await build(sources);
    console.log(`Built the console in ${((performance.now() - startMs) / 1000).toFixed(1)} s.`);
  }
}
