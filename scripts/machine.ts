// Programs that the tests need besides npm packages: finds them, installs missing ones on Debian as root, or prints the
// command to run.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Chromium without a window: the same engine, with a third less CPU time in the tests. */
const HEADLESS_SHELL = 'chromium-headless-shell';

/** Path of Chromium; undefined if it is not installed. */
export function findChromium(): string | undefined {
  const { CHROMIUM } = process.env;
  if (CHROMIUM !== undefined && existsSync(CHROMIUM)) return CHROMIUM;
  const names = [HEADLESS_SHELL, 'google-chrome', 'chromium', 'chromium-browser'];
  return names.map(findCommand).find((path) => path !== undefined);
}

const POSTGRES = '/usr/lib/postgresql';

/** Folder with the programs of the newest PostgreSQL with PostGIS, in Debian's location; undefined if there is none. */
export function findPostgres(): string | undefined {
  const versions = existsSync(POSTGRES) ? readdirSync(POSTGRES).sort((a, b) => Number(b) - Number(a)) : [];
  const found = versions.find(
    (version) =>
      existsSync(join(POSTGRES, version, 'bin/postgres')) &&
      existsSync(`/usr/share/postgresql/${version}/extension/postgis.control`),
  );
  return found === undefined ? undefined : join(POSTGRES, found, 'bin');
}

/** Path of nginx; undefined if it is not installed. */
export function findNginx(): string | undefined {
  return findCommand('nginx');
}

/** Path of PgBouncer; undefined if it is not installed. PGBOUNCER may name another one. */
export function findPgBouncer(): string | undefined {
  const { PGBOUNCER } = process.env;
  return PGBOUNCER !== undefined && existsSync(PGBOUNCER) ? PGBOUNCER : findCommand('pgbouncer');
}

/** Also installs PostgreSQL, in the version of the Debian release: 15 in Debian 12, 17 in 13. */
const POSTGIS = 'postgresql-postgis';

/**
 * Debian packages whose programs the tests start: curl for the README's commands, script (bsdutils) for a terminal, gcc with
 * C's headers for what records the writes of a service.
 */
const NEEDED: readonly (readonly [debianPackage: string, find: () => string | undefined])[] = [
  [HEADLESS_SHELL, findChromium],
  [POSTGIS, findPostgres],
  ['curl', () => findCommand('curl')],
  ['procps', () => findCommand('ps')],
  ['bsdutils', () => findCommand('script')],
  ['openssl', () => findCommand('openssl')],
  ['gcc', () => findCommand('gcc')],
  ['libc6-dev', () => ['/usr/include/stdio.h'].find(existsSync)],
  ['nginx', findNginx],
  ['pgbouncer', findPgBouncer],
];

/** Throws with the command to run if something is missing and cannot be installed from here. */
export function ensureMachine(): void {
  const missing = NEEDED.filter(([, find]) => find() === undefined).map(([debianPackage]) => debianPackage);
  if (missing.length > 0) install(missing);
}

function findCommand(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/sbin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/**
 * Debian's PostgreSQL starts a cluster on port 5432 on installation, unless a file in this folder disables that
 * (postgresql-common's createcluster.conf includes these files). The tests start their own cluster.
 */
const CREATE_CLUSTER = '/etc/postgresql-common/createcluster.d';
const NO_CLUSTER = `mkdir -p ${CREATE_CLUSTER} && echo 'create_main_cluster = false' > ${CREATE_CLUSTER}/local-events.conf`;

function installLine(packages: readonly string[]): string {
  const install = `apt-get update && apt-get install -y --no-install-recommends ${packages.join(' ')}`;
  return packages.includes(POSTGIS) ? `${NO_CLUSTER} && ${install}` : install;
}

/** Debian starts the services that it installs, such as nginx on port 80, unless this file forbids it. */
const POLICY = '/usr/sbin/policy-rc.d';
const NO_SERVICES = `[ -e ${POLICY} ] || { trap 'rm ${POLICY}' EXIT && printf '#!/bin/sh\\nexit 101\\n' > ${POLICY} && chmod +x ${POLICY}; }`;

/** Command that installs only PostgreSQL with PostGIS. */
export const HOW_TO_INSTALL_POSTGRES = installLine([POSTGIS]);

function install(packages: readonly string[]): void {
  const names = packages.join(' ');
  const line = installLine(packages);
  const isDebianRoot = existsSync('/etc/debian_version') && process.getuid?.() === 0;
  if (!isDebianRoot) throw new Error(`The tests need ${names}. Install them, on Debian: ${line}`);
  console.log(`\n== ${names} missing; installing: ${line}`);
  execFileSync('sh', ['-c', `${NO_SERVICES} && ${line}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
}
