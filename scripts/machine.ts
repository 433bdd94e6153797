// What the tests need beside npm packages: found on the machine, installed on Debian as root, or named with the line to run.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where Chromium is; undefined if it is not installed. */
export function findChromium(): string | undefined {
  const places = [process.env.CHROMIUM, '/usr/bin/google-chrome'];
  const found = places.find((place) => place !== undefined && existsSync(place));
  return found ?? findCommand('chromium') ?? findCommand('chromium-browser');
}

/** The Debian packages whose programs the tests start; curl is the README's, script of bsdutils makes a terminal. */
const NEEDED: readonly (readonly [debianPackage: string, find: () => string | undefined])[] = [
  ['chromium', findChromium],
  ['curl', () => findCommand('curl')],
  ['procps', () => findCommand('ps')],
  ['bsdutils', () => findCommand('script')],
];

/** Throws with the line to run where something is missing and cannot be installed from here. */
export function ensureMachine(): void {
  const missing = NEEDED.filter(([, find]) => find() === undefined).map(([debianPackage]) => debianPackage);
  if (missing.length > 0) install(missing);
}

function findCommand(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

function install(packages: readonly string[]): void {
  const names = packages.join(' ');
  const line = `apt-get update && apt-get install -y --no-install-recommends ${names}`;
  const isDebianRoot = existsSync('/etc/debian_version') && process.getuid?.() === 0;
  if (!isDebianRoot) throw new Error(`The tests need ${names}. Install them, on Debian: ${line}`);
  console.log(`\n== ${names} missing; installing: ${line}`);
  execFileSync('sh', ['-c', line], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
}
