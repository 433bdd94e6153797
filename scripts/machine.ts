// What the tests need beside npm packages: found on the machine, installed on Debian as root, or named with the line to run.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Where Chromium is; undefined if it is not installed. */
export function findChromium(): string | undefined {
  const places = [
    process.env.CHROMIUM,
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
  ];
  return places.find((place) => place !== undefined && existsSync(place));
}

/** Throws with the line to run where Chromium is missing and cannot be installed from here. */
export function ensureChromium(): void {
  if (findChromium() === undefined) installPackages('Chromium', ['chromium']);
}

function installPackages(what: string, packages: readonly string[]): void {
  const line = `apt-get update && apt-get install -y --no-install-recommends ${packages.join(' ')}`;
  const isDebianRoot = existsSync('/etc/debian_version') && process.getuid?.() === 0;
  if (!isDebianRoot) throw new Error(`The tests need ${what}. Install it, on Debian: ${line}`);
  console.log(`\n== ${what} is missing; installing it: ${line}`);
  execFileSync('sh', ['-c', line], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
}
