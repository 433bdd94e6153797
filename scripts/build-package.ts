// Builds what only the npm package has: the console, and src/ as JavaScript in lib/, because Node strips no types under
// node_modules. npm runs it before it packs. In a clone, bin/local-events.mjs uses src/ and ignores lib/.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import './build-web.ts';
import { setEngine } from './package-engines.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = join(ROOT, 'src');
const LIB = join(ROOT, 'lib');

/** The files of threads are named in strings, which the compiler does not rewrite. */
const WORKER_FILE = /'(\.\/[a-z-]+-worker)\.ts'/g;
/** What must not be left: the name of a file that the package does not have. */
const SOURCE_FILE = /['"`]\.{1,2}\/[^'"`\n]*\.ts['"`]/;

if (!existsSync(join(ROOT, 'web/dist/index.html'))) throw new Error('The package needs the console.');
rmSync(LIB, { recursive: true, force: true });
execFileSync('tsc', ['--project', 'tsconfig.package.json'], { cwd: ROOT, stdio: 'inherit' });
// Everything else that the sources read, such as migrations.
cpSync(SOURCES, LIB, { recursive: true, filter: (path) => !path.endsWith('.ts') });
for (const file of globSync('**/*.js', { cwd: LIB })) {
  const path = join(LIB, file);
  const text = readFileSync(path, 'utf8').replaceAll(WORKER_FILE, "'$1.js'");
  if (SOURCE_FILE.test(text)) throw new Error(`lib/${file} names a TypeScript file.`);
  writeFileSync(path, text);
}
setEngine('package');
