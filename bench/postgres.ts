// A PostgreSQL with PostGIS of the benchmark's own, loaded with the same events: its own folder and port, gone afterwards.
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import postgres from 'postgres';
import { databasePath } from '../src/sqlite/data-folder.ts';
import { freePort } from '../test/support/process.ts';

const DEBIAN = '/usr/lib/postgresql';
export const HOW_TO_INSTALL = 'apt-get install -y postgresql-15-postgis-3';

export interface Postgres {
  readonly url: string;
  readonly pid: number;
  stop(): void;
}

/** The folder of initdb and pg_ctl; undefined where PostgreSQL or PostGIS is missing. */
function findBinaries(): string | undefined {
  if (!existsSync(DEBIAN)) return undefined;
  const versions = readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a));
  const version = versions.find((name) =>
    existsSync(`/usr/share/postgresql/${name}/extension/postgis.control`),
  );
  return version === undefined ? undefined : join(DEBIAN, version, 'bin');
}

/** Undefined where PostgreSQL with PostGIS is not on the machine. */
export async function startPostgres(dataFolder: string): Promise<Postgres | undefined> {
  const binaries = findBinaries();
  if (binaries === undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'bench-postgres-'));
  const isRoot = process.getuid!() === 0;
  if (isRoot) chownSync(folder, Number(userId('-u')), Number(userId('-g')));
  // It refuses to run as root.
  const run = (program: string, args: string[]) => {
    const command = [join(binaries, program), ...args];
    const [first, ...rest] = isRoot ? ['runuser', '-u', 'postgres', '--', ...command] : command;
    execFileSync(first!, rest, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  };
  const cluster = join(folder, 'cluster');
  run('initdb', ['-D', cluster, '-U', 'bench', '-A', 'trust', '-E', 'UTF8', '--no-sync']);
  const port = await freePort();
  // The share of the memory that PostgreSQL's own documentation recommends; all else as it comes.
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder,
    shared_buffers: `${Math.floor(totalmem() / 4 / 1_048_576)}MB`,
  };
  const flags = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  run('pg_ctl', ['-D', cluster, '-w', '-l', join(folder, 'log'), '-o', flags.join(' '), 'start']);
  const stop = () => {
    process.off('exit', stop);
    run('pg_ctl', ['-D', cluster, '-m', 'immediate', 'stop']);
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', stop);
  const url = `postgres://bench@127.0.0.1:${port}/postgres`;
  await load(url, dataFolder);
  const pid = Number(readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0]);
  return { url, pid, stop };
}

function userId(flag: '-u' | '-g'): string {
  return execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }).trim();
}

const COPIED = `event_id, agent_id, title, description, start_at, end_at, timezone, location_name, address, lat, lng, url, cost, audience, event_type, created_at`;

async function load(url: string, dataFolder: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql.unsafe(`
    create extension postgis;
    create table events (
      event_id text primary key, agent_id uuid not null, title text not null, description text,
      start_at timestamptz not null, end_at timestamptz, timezone text not null, location_name text not null,
      address text, lat float8 not null, lng float8 not null, url text, cost text, audience text not null,
      event_type text not null, created_at timestamptz not null, geog geography(point, 4326) not null
    )`);
  const copy = await sql.unsafe(`copy events (${COPIED}, geog) from stdin`).writable();
  await pipeline(Readable.from(copyLines(dataFolder)), copy);
  await sql.unsafe('create index on events using gist (geog)');
  await sql.unsafe('create index on events (start_at)');
  await sql.unsafe('vacuum analyze events');
  await sql.end();
}

/** In the text form of COPY, several rows at a time. */
function* copyLines(dataFolder: string): Generator<string> {
  const database = new DatabaseSync(databasePath(dataFolder), { readOnly: true });
  let lines = '';
  for (const { json } of database.prepare('SELECT json FROM events').iterate()) {
    const event = JSON.parse(json as string);
    const point = `SRID=4326;POINT(${event.lng} ${event.lat})`;
    const values = [...COPIED.split(', ').map((name) => event[name]), point];
    lines += `${values.map(toCopyField).join('\t')}\n`;
    if (lines.length > 1_000_000) {
      yield lines;
      lines = '';
    }
  }
  if (lines !== '') yield lines;
  database.close();
}

function toCopyField(value: unknown): string {
  if (value === null || value === undefined) return '\\N';
  return String(value).replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n');
}
