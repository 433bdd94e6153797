// The npm package, made as an operator would make it.
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../docs/readme.ts';
import { temporaryFolder } from '../support/service.ts';

/** Runs "npm pack" and returns the path of the package. */
export function packPackage(): string {
  const folder = temporaryFolder();
  execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT, stdio: 'pipe' });
  const [file] = readdirSync(folder);
  return join(folder, file!);
}

/** Paths of its files, relative to the folder of the installed package. */
export function filesOf(tarball: string): string[] {
  const list = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' });
  return list
    .trim()
    .split('\n')
    .map((path) => path.replace(/^package\//, ''));
}
