// Builds the console into web/dist, unless what is there was made from the same sources. Where Vite is not installed (no
// development packages) what is there stays; where nothing is, the service says so in its place.
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const WEB = join(ROOT, 'web');
const DIST = join(WEB, 'dist');
const STAMP = '.sources';

/** Of everything that the result depends on. */
function hashSources(): string {
  const hash = createHash('sha256');
  const files = globSync(['index.html', 'vite.config.ts', 'tsconfig.json', 'src/**/*.*'], {
    cwd: WEB,
  }).sort();
  for (const file of files) hash.update(`${file}\n`).update(readFileSync(join(WEB, file)));
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

/** Made beside the old one and put in its place at the end, so that a service which starts meanwhile reads a whole one. */
async function build(sources: string): Promise<void> {
  const { build } = await import('vite');
  const made = join(WEB, `.dist-${process.pid}`);
  const old = `${made}-old`;
  try {
    await build({
      configFile: join(WEB, 'vite.config.ts'),
      configLoader: 'native',
      logLevel: 'warn',
      build: { outDir: made, emptyOutDir: true },
    });
    writeFileSync(join(made, STAMP), sources);
    unless('ENOENT', () => renameSync(DIST, old));
    // Another build may have been faster.
    unless('ENOTEMPTY', () => renameSync(made, DIST));
  } finally {
    for (const folder of [made, old]) rmSync(folder, { recursive: true, force: true });
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
