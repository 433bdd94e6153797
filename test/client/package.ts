// The package of the client, made and installed as a user would.

import { execFile } from 'node:child_process';
import { cpSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../docs/readme.ts';
import { npm, PATH } from '../support/npm.ts';
import { temporaryFolder } from '../support/service.ts';

/** Runs "npm pack" in a copy of client/, so that tests do not build it at the same time. Returns the path of the package. */
export async function packClient(): Promise<string> {
  const folder = join(temporaryFolder(), 'client');
  cpSync(join(ROOT, 'client'), folder, { recursive: true, filter: (path) => !path.endsWith('/dist') });
  // In client/, npm finds the compiler of the folder above.
  const env = { ...process.env, PATH: [join(ROOT, 'node_modules/.bin'), PATH].join(delimiter) };
  await promisify(execFile)('npm', ['pack', '--silent'], { cwd: folder, env });
  return join(folder, readdirSync(folder).find((file) => file.endsWith('.tgz'))!);
}

/** An empty folder with the package installed. Nothing else is, so it needs no registry. */
export async function installClient(tarball: string): Promise<string> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  await npm(['install', '--offline', tarball], folder);
  return folder;
}

/** Node 20: the machine's, if it is that version; otherwise installed for this run. */
export async function findNode20(): Promise<string> {
  for (const path of PATH.split(delimiter).map((folder) => join(folder, 'node'))) {
    if (!existsSync(path)) continue;
    const { stdout } = await promisify(execFile)(path, ['--version']);
    if (stdout.startsWith('v20.')) return path;
  }
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'package.json'), '{}');
  await npm(['install', 'node@20'], folder);
  return join(folder, 'node_modules/node/bin/node');
}
