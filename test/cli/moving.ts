// Helpers for tests of `move`: data of every kind, a dump that shares no code with the move, and a way to pause a move at
// a chosen row.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import postgres from 'postgres';
import { readConfig } from '../../src/config.ts';
import { fingerprint } from '../../src/domain/api-key.ts';
import type { EventRow } from '../../src/domain/events/event.ts';
import { openBulkReader, openStore } from '../../src/engines.ts';
import { execute, readRows } from '../sqlite/files.ts';
import { addGrant, newClient, newGrantOf, newTokens } from '../store/grant-rows.ts';
import { addAgent, auditOf, NOW_MS } from '../store/rows.ts';
import { runHere, startHere } from '../support/command.ts';
import { newDatabase } from '../support/postgres.ts';
import { type Ended, launch, type RunningProcess } from '../support/process.ts';
import { startTestService } from '../support/service.ts';

const ORDER = {
  settings: 'name',
  agents: 'agent_id',
  keys: 'key_hash',
  oauth_clients: 'client_id',
  grants: 'grant_id',
  grant_tokens: 'token_hash',
  events: 'event_id',
  audit: 'audit_id',
  deleted_events: 'event_id',
  deleted_agents: 'audit_id',
  deleted_keys: 'key_hash',
  deleted_grants: 'grant_id',
  deleted_grant_tokens: 'token_hash',
};
type Name = keyof typeof ORDER;
export type Dump = Record<Name, Record<string, unknown>[]>;

/** Columns that only one engine has. */
const OWN_COLUMNS = new Set(['row_id', 'ends_ms', 'place']);

function dumpOf(read: (name: Name) => Record<string, unknown>[]): Dump {
  const clean = (row: Record<string, unknown>) =>
    Object.fromEntries(
      Object.entries(row)
        .filter(([name]) => !OWN_COLUMNS.has(name))
        .map(([name, value]) => [name, name === 'is_active' || name === 'is_used' ? Boolean(value) : value])
        .sort(([a], [b]) => (a! < b! ? -1 : 1)),
    );
  const names = Object.keys(ORDER) as Name[];
  return Object.fromEntries(names.map((name) => [name, read(name).map(clean)])) as Dump;
}

/** Every row of the data folder. */
export function dumpFolder(folder: string): Dump {
  return dumpOf((name) => readRows(databaseOf(folder), `SELECT * FROM ${name} ORDER BY ${ORDER[name]}`));
}

/** Every row of the database. */
export async function dumpDatabase(url: string): Promise<Dump> {
  return withSql(url, async (sql) => {
    const tables = new Map<Name, Record<string, unknown>[]>();
    for (const [name, key] of Object.entries(ORDER)) {
      // Words are found again in the texts.
      const found = await sql.unsafe(`SELECT * FROM ${name} ORDER BY ${key}`);
      const rows = found.map(({ words: _words, words_by: _version, ...row }) => row);
      const toNumber = (row: Record<string, unknown>) =>
        Object.fromEntries(
          Object.entries(row).map(([column, value]) => [
            column,
            value !== null && /_ms$|_bytes$|^audit_id$/.test(column) ? Number(value) : value,
          ]),
        );
      tables.set(name as Name, rows.map(toNumber));
    }
    return dumpOf((name) => tables.get(name)!);
  });
}

export function databaseOf(folder: string): string {
  return join(folder, 'local-events.db');
}

export type TestSql = ReturnType<typeof postgres>;

/** Runs statements over a separate connection. */
export async function withSql<T>(url: string, work: (sql: TestSql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}

/** A fresh database that already has its tables. */
export async function newMigratedDatabase(): Promise<string> {
  const url = await newDatabase();
  await (await openStore(readConfig({ DATABASE_URL: url }), 0)).close();
  return url;
}

export type Env = Record<string, string>;

/** The output of `export`. */
export async function exported(env: Env): Promise<string> {
  const { code, stdout, stderr } = await runHere(['export'], env);
  assert.equal(code, 0, stderr);
  return stdout;
}

/** The rows of one agent that `export` reads. */
export async function eventsOf(env: Env, agentId: string): Promise<EventRow[]> {
  const reader = await openBulkReader(readConfig(env), 'export');
  const rows = (await Array.fromAsync(reader.events(agentId))).flat();
  await reader.close();
  assert.ok(rows.length > 0);
  return rows;
}

/** The exit of `serve`; it is stopped if it starts. */
export function tryToServe(env: Env): Promise<Ended> {
  const { stderr, signal, ended } = startHere(['serve'], { PORT: '0', ...env });
  stderr.on('data', (text: string) => {
    if (/ is ready$/m.test(text)) signal('SIGTERM');
  });
  return ended;
}

/** Asserts that the move succeeded, and returns its output. */
export function assertMoved({ code, stdout, stderr }: Ended): string {
  assert.deepEqual([code, stdout], [0, ''], stderr);
  assert.equal(
    stderr.match(/^ {2}\w+ +[\d,]+ {2}identical {2}sha256 [0-9a-f]{16}…$/gm)?.length,
    Object.keys(ORDER).length,
    stderr,
  );
  assert.match(stderr, /^done in \d+\.\d s: .* holds everything, .* is unchanged\n$/m);
  return stderr;
}

/** Starts the move and calls back while it is blocked, in the middle of a step, at the row with this key. */
export async function holdAt(
  [args, env]: [args: string[], env: Record<string, string>],
  { url, table, key }: { url: string; table: Name; key: string | number },
  act: (move: RunningProcess) => Promise<unknown>,
): Promise<Ended> {
  return withSql(url, async (sql) => {
    await sql.unsafe(`
      CREATE OR REPLACE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END';
      CREATE TRIGGER hold BEFORE INSERT ON ${table} FOR EACH ROW
        WHEN (NEW.${ORDER[table]} = '${key}') EXECUTE FUNCTION hold();
      SELECT pg_advisory_lock(1)`);
    const move = launch(args, env);
    try {
      for (;;) {
        assert.equal(move.child.exitCode, null, move.output().stderr);
        const waiting = await sql`
          SELECT 1 FROM pg_locks JOIN pg_database ON database = pg_database.oid
          WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()`;
        if (waiting.length > 0) break;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      await act(move);
      await sql`SELECT pg_advisory_unlock(1)`;
    } catch (error) {
      move.child.kill('SIGKILL'); // an open process would keep the failure from being reported
      throw error;
    }
    const ended = await move.ended;
    await sql.unsafe(`DROP TRIGGER hold ON ${table}`); // waits for the statements of a killed move
    return ended;
  });
}

/** Ends the statements of other processes, as a server does when it is stopped. */
export async function endOthers(url: string): Promise<void> {
  await withSql(
    url,
    (sql) => sql`
      SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'local-events%'`,
  );
}

const LONG_AGO = '2020-01-01T00:00:00Z';

const EVENTS = [
  {
    title: 'all fields',
    description: 'd',
    end_at: '2031-05-02T00:00:00.123Z',
    address: 'a',
    url: 'u',
    cost: 'c',
  },
  { title: 'ended', start_at: LONG_AGO },
  {
    title: 'longest',
    start_at: '0001-01-01T00:00:00Z',
    end_at: '9999-12-31T23:59:59.999Z',
    audience: 'kids',
  },
  { title: 'corner', lat: -90, lng: 179.99999999999997 },
  { title: 'corner', lat: 90, lng: -180 },
  { title: 'small', lat: 5e-324, lng: -0 },
  { title: 'a fraction', lat: 0.1 + 0.2, lng: -1 / 3 },
  { title: ' "quoted" \\ \t\r\n\u2028\u0001\u007f', description: '' },
  {
    title: 'ünï — 漢字 — שלום — e\u0301 — 👩‍👩‍👧',
    location_name: '\ufeff',
    description: '😀'.repeat(10_000),
  },
  ...['Ä', 'Z', 'a', 'É', '_', '\u{ffff}', '😀'].map((title) => ({ title })), // bytes decide their order
];

export interface World {
  readonly folder: string;
  readonly keys: Readonly<Record<'read' | 'readwrite' | 'admin' | 'inactive', string>>;
  readonly agentIds: readonly string[];
  /** An administrator's token, created before the move. */
  readonly token: string;
}

/** Grants with tokens of every kind, one that waits for its exchange, and those of an agent that was deleted. */
async function addGrants(folder: string, readKey: string): Promise<void> {
  const store = await openStore(readConfig({ DATA_DIR: folder }), 0);
  const key = fingerprint(readKey);
  const agent = (await store.findAgentByKey(key.hash, 0))!;
  const client = newClient({ client_name: "Zoë's 😀", redirect_uris: ['cursor://"ä"', 'http://[::1]/'] });
  await store.addClient(client);
  await store.addClient(newClient());
  const { client_id } = client;
  const { tokens } = await addGrant(store, agent, key, { client_id, client_host: null });
  await store.refreshGrant(tokens.refresh_hash, newTokens(NOW_MS, { scopes: ['read'] }), NOW_MS);
  await store.addGrant(newGrantOf(agent, key, { scopes: ['read'] }));
  const gone = await addAgent(store);
  await addGrant(store, gone.agent, gone.key);
  const { agent_id } = gone.agent;
  await store.deleteAll(agent_id, { ...auditOf('delete_agent', agent_id), undo: 'kept' }, true);
  await store.close();
}

/** A data folder with agents of every tier, an inactive one, events of every kind, an audit log with gaps, and grants. */
export async function makeWorld(): Promise<World> {
  const service = await startTestService();
  const admin = await service.newAdministrator();
  const keys: Record<string, string> = {};
  const agentIds: string[] = [];
  for (const name of ['read', 'readwrite', 'admin', 'inactive']) {
    const body = { email: 'agent@example.com', agent_name: `${name} – ✓` };
    const { api_key } = (await service.client.post('/v1/auth/register', body)).body;
    keys[name] = api_key;
    const publisher = service.client.with({ 'x-api-key': api_key });
    const events = name.startsWith('read') ? EVENTS : EVENTS.slice(0, 2);
    await Promise.all(events.map((event) => publisher.create(event)));
    const { event_id, agent_id } = await publisher.create();
    agentIds.push(agent_id);
    await publisher.patch(`/v1/events/${event_id}`, { cost: 'more', title: "it's \u{1f600}" });
    const called = await publisher.create({ title: 'called off' });
    await publisher.patch(`/v1/events/${called.event_id}`, { status: 'cancelled' });
    await admin.delete(`/v1/admin/events/${(await publisher.create()).event_id}`);
    const change = name === 'inactive' ? { is_active: false } : { tier: name };
    assert.equal((await admin.patch(`/v1/admin/agents/${agent_id}`, change)).status, 200);
  }
  await service.close();
  await addGrants(service.folder, keys.read!);
  execute(
    databaseOf(service.folder),
    `UPDATE keys SET expires_ms = 4102444800123 WHERE agent_id = '${agentIds[0]}';
     DELETE FROM audit WHERE audit_id IN (2, 3);
     UPDATE audit SET target_name = 'Ärger 😀' WHERE audit_id = 4;
     INSERT INTO settings VALUES ('b', '', 4102444800123), ('B', 'x', 4102444800124), ('ä', '', 1), ('Ada', 'two', NULL)`,
  );
  const { stdout } = await runHere(['admin-token', '--email', 'ada@example.com'], {
    DATA_DIR: service.folder,
  });
  return { folder: service.folder, keys: keys as World['keys'], agentIds, token: stdout.trimEnd() };
}
