// Data folder of the benchmark: agents with known keys, and the seeded events. Created once a day for each size.
import { constants, cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { fingerprint, newApiKey } from '../src/domain/api-key.ts';
import type { Random } from '../src/domain/clock-and-random.ts';
import { EVENT_DEFAULTS } from '../src/domain/events/event.ts';
import { newUuid } from '../src/domain/ids.ts';
import type { Migration } from '../src/migrations.ts';
import { columnValues, EVENT_COLUMN_LIST } from '../src/sqlite/columns.ts';
import { orderEvents } from '../src/sqlite/event-order.ts';
import { databasePath } from '../src/sqlite/files/data-folder.ts';
import { migrate } from '../src/sqlite/migrate.ts';
import { Chance } from '../test/support/random.ts';
import { DAY_MS, type DataKind, makeFacts, SEED, Texts } from './events.ts';

export const CACHE = fileURLToPath(new URL('../node_modules/.cache/bench/', import.meta.url));

const OWNERS = 200;
/** Enough to keep creates below the default of MAX_EVENTS_PER_AGENT. */
const CREATORS = 100;

export interface BenchAgent {
  readonly agentId: string;
  readonly key: string;
}

export interface BenchAgents {
  readonly owners: readonly BenchAgent[];
  readonly creators: readonly BenchAgent[];
  /** Sends all searches and reads. */
  readonly searcher: BenchAgent;
}

/** Returns the same agents and keys every time. */
export function benchAgents(): BenchAgents {
  const chance = new Chance(SEED + 2);
  const random: Random = (bytes) => bytes.map(() => chance.integer(0, 255));
  const make = () => ({ agentId: newUuid(1_700_000_000_000, random), key: newApiKey(random) });
  return {
    owners: Array.from({ length: OWNERS }, make),
    creators: Array.from({ length: CREATORS }, make),
    searcher: make(),
  };
}

/**
 * A data folder with this many events. Reuses the folder of an earlier run on the same day. With `migrations` of an older
 * checkout, that checkout can open it, and the data is that of older versions unless `kind` says otherwise.
 */
export function prepareFolder(
  count: number,
  migrations?: readonly Migration[],
  kind: DataKind = migrations ? 'plain' : 'lively',
): string {
  const day = new Date().toISOString().slice(0, 10);
  const schema = migrations ? `-schema-${migrations.length}` : '';
  const folder = join(CACHE, `${day}-${SEED}-${kind}-${count}${schema}`);
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  for (const old of readdirSync(CACHE)) {
    if (!old.startsWith(day)) rmSync(join(CACHE, old), { recursive: true });
  }
  const unfinished = `${folder}.part`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { mode: 0o700 });
  writeEvents(databasePath(unfinished), count, kind, Math.floor(Date.now() / DAY_MS) * DAY_MS, migrations);
  renameSync(unfinished, folder);
  return folder;
}

/** Copies a data folder, so that a run can write to it. */
export function copyFolder(folder: string, name = 'run'): string {
  const copy = join(CACHE, name);
  rmSync(copy, { recursive: true, force: true });
  cpSync(folder, copy, { recursive: true, mode: constants.COPYFILE_FICLONE });
  return copy;
}

function writeEvents(
  path: string,
  count: number,
  kind: DataKind,
  nowMs: number,
  migrations?: readonly Migration[],
): void {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -500000');
  migrate(database, migrations);
  const agents = benchAgents();
  database.exec('BEGIN');
  // Creating the index after the rows is faster than updating it with each row.
  const identity = database.prepare("SELECT sql FROM sqlite_master WHERE name = 'events_identity'").get()!
    .sql as string;
  database.exec('DROP INDEX events_identity');
  writeAgents(database, agents, nowMs);
  // An older schema lacks the columns that came after it.
  const known = new Set(
    database
      .prepare("SELECT name FROM pragma_table_info('events')")
      .all()
      .map(({ name }) => name),
  );
  const columns = EVENT_COLUMN_LIST.split(', ').map((name) => known.has(name) && name);
  const insert = database.prepare(
    `INSERT INTO events (${columns.filter(Boolean).join(', ')}) VALUES (${columns.filter(Boolean).map(() => '?')})`,
  );
  const texts = new Texts(kind);
  let made = 0;
  for (const { city, ...facts } of makeFacts(count, nowMs, kind)) {
    const agent_id = agents.owners[made % OWNERS]!.agentId;
    const values = columnValues({
      ...EVENT_DEFAULTS,
      ...facts,
      ...texts.of(city, facts.event_type),
      agent_id,
      version: 1,
      updated_ms: facts.created_ms,
    });
    insert.run(...values.filter((_, at) => columns[at]));
    if (++made % 250_000 === 0) console.error(`  ${made} of ${count} events written`);
  }
  database.exec(identity);
  database.exec(`
    UPDATE agents SET event_count = (SELECT count(*) FROM events WHERE events.agent_id = agents.agent_id);
    COMMIT;
    PRAGMA journal_mode = WAL;
  `);
  if (!migrations) orderEvents(database, Infinity);
  database.close();
}

function writeAgents(database: DatabaseSync, agents: BenchAgents, nowMs: number): void {
  const addAgent = database.prepare(
    `INSERT INTO agents (agent_id, email, agent_name, tier, is_active, created_ms) VALUES (?, ?, ?, 'readwrite', 1, ?)`,
  );
  const addKey = database.prepare(
    'INSERT INTO keys (key_hash, agent_id, prefix, created_ms) VALUES (?, ?, ?, ?)',
  );
  const all = [...agents.owners, ...agents.creators, agents.searcher];
  for (const [number, { agentId, key }] of all.entries()) {
    const { hash, prefix } = fingerprint(key);
    addAgent.run(agentId, `agent${number}@example.com`, `agent ${number}`, nowMs);
    addKey.run(hash, agentId, prefix, nowMs);
  }
}
