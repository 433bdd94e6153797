// PostgreSQL cluster with PostGIS for the benchmark, loaded with the same events.
import { totalmem } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import postgres from 'postgres';
import { findPostgres } from '../scripts/machine.ts';
import { databasePath } from '../src/sqlite/files/data-folder.ts';
import { type Cluster, startCluster } from '../test/support/postgres-cluster.ts';

/** Undefined if PostgreSQL with PostGIS is not installed. */
export async function startPostgres(dataFolder: string): Promise<Cluster | undefined> {
  if (findPostgres() === undefined) return undefined;
  // The share of memory that PostgreSQL's documentation recommends; all other settings are defaults.
  const settings = { fsync: 'on', shared_buffers: `${Math.floor(totalmem() / 4 / 1_048_576)}MB` };
  const cluster = await startCluster({ settings });
  await load(cluster.url(), dataFolder);
  return cluster;
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

/** Rows in the text format of COPY, several at a time. */
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

export function toCopyField(value: unknown): string {
  if (value === null || value === undefined) return '\\N';
  return String(value).replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n');
}
