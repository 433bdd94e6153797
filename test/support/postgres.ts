// Databases for tests: each is fresh, has PostGIS and belongs to its own ordinary role. They are in the cluster that the
// test command has started (TEST_POSTGRES), or else in one that starts and ends with this process.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { type Cluster, startCluster } from './postgres-cluster.ts';
import { getProgram } from './postgres-programs.ts';

/** Less work for a server whose data nobody keeps. */
const SETTINGS = { full_page_writes: 'off', wal_level: 'minimal', max_wal_senders: 0 };

/** A cluster whose new databases have PostGIS, which only a superuser may add. */
export async function startSharedCluster(): Promise<Cluster> {
  const cluster = await startCluster({ settings: SETTINGS });
  await administer(cluster.url('template1'), [
    'create extension postgis',
    // Thousands of other coordinate systems, which every new database would copy.
    'delete from spatial_ref_sys where srid <> 4326',
    'vacuum full spatial_ref_sys',
  ]);
  return cluster;
}

/** Creates a database and returns its owner's URL. It is dropped when this process ends. */
export async function newDatabase(): Promise<string> {
  const url = await createDatabase(await getAdministratorUrl());
  names.push(new URL(url).username);
  return url;
}

/** The same in the cluster at this superuser's URL; never dropped. */
export async function createDatabase(administrator: string): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administer(administrator, [`create role ${name} login`, `create database ${name} owner ${name}`]);
  const url = new URL(administrator);
  url.username = name;
  url.pathname = name;
  return url.href;
}

/** The superuser's URL of the cluster, which is started if needed. */
export function getAdministratorUrl(): Promise<string> {
  administratorUrl ??= findCluster();
  return administratorUrl;
}

let administratorUrl: Promise<string> | undefined;

async function findCluster(): Promise<string> {
  const { TEST_POSTGRES } = process.env;
  if (TEST_POSTGRES === undefined) return (await startSharedCluster()).url();
  process.once('exit', () => dropDatabases(TEST_POSTGRES));
  return TEST_POSTGRES;
}

const names: string[] = [];

/** With psql, because a handler of 'exit' cannot wait for a driver. */
function dropDatabases(administrator: string): void {
  const statements = names.flatMap((name) => [`drop database ${name} with (force)`, `drop role ${name}`]);
  const args = [...statements.map((statement) => `--command=${statement}`), '--no-psqlrc', '--quiet'];
  spawnSync(getProgram('psql'), [...args, administrator], { stdio: ['ignore', 'ignore', 'inherit'] });
}

async function administer(url: string, statements: readonly string[]): Promise<void> {
  const sql = postgres(url, { max: 1, fetch_types: false, onnotice: () => {} });
  try {
    for (const statement of statements) await sql.unsafe(statement);
  } finally {
    await sql.end();
  }
}
