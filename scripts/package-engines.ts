// Which Node package.json asks for: the npm package needs the one that the program needs, a clone only one that runs npm, because it
// brings its own. npm packs package.json as it is on the disk, so it is changed while npm packs ("prepack", "postpack").
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../', import.meta.url);
const FILE = fileURLToPath(new URL('package.json', ROOT));

const NEEDED = /NEEDED = (\d+)/.exec(readFileSync(new URL('bin/local-events.mjs', ROOT), 'utf8'))![1]!;
const IN_CLONE = '20';

export function setEngine(where: 'package' | 'clone'): void {
  const version = where === 'package' ? NEEDED : IN_CLONE;
  const text = readFileSync(FILE, 'utf8');
  const changed = text.replace(/("engines": \{\s+"node": ">=)\d+"/, `$1${version}"`);
  if (changed === text) return;
  // Others may read it meanwhile.
  writeFileSync(`${FILE}.new`, changed);
  renameSync(`${FILE}.new`, FILE);
}

if (process.argv[2] === 'after') setEngine('clone');
