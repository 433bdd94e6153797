// Data from before 1.0.0, as far as commands look at it: the first tables of both engines, and how their migrations were recorded.

const EVENT = {
  event_id: '01JZ9GX4T0QW3N1V8R5Y7K2MHD',
  agent_id: '0197d2e8-9a40-7c55-8f3e-5b1d2c6a7e90',
  title: 'Lantern workshop',
  start_at: '2131-05-01T16:00:00.000Z',
  timezone: 'Europe/Berlin',
  lat: 52.5264,
  lng: 13.3955,
  audience: 'all',
  event_type: 'workshop',
  created_at: '2026-11-15T09:30:00.000Z',
};

export const AGENT_ID = EVENT.agent_id;

/** For the embedded engine, whose last schema had the number 10. `records`: whether the version recorded the names of migrations. */
export function folderBefore(records = true): string {
  return `
    PRAGMA journal_mode = WAL;
    CREATE TABLE agents (
      agent_id TEXT PRIMARY KEY, email TEXT NOT NULL, agent_name TEXT NOT NULL, tier TEXT NOT NULL, is_active INTEGER NOT NULL,
      created_ms INTEGER NOT NULL, last_used_ms INTEGER, event_count INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE keys (
      key_hash TEXT PRIMARY KEY, agent_id TEXT NOT NULL REFERENCES agents ON DELETE CASCADE, prefix TEXT NOT NULL,
      created_ms INTEGER NOT NULL, expires_ms INTEGER
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE events (
      row_id INTEGER PRIMARY KEY, event_id TEXT NOT NULL UNIQUE, agent_id TEXT NOT NULL REFERENCES agents, version INTEGER NOT NULL,
      title TEXT NOT NULL, start_ms INTEGER NOT NULL, end_ms INTEGER, lat REAL NOT NULL, lng REAL NOT NULL, audience TEXT NOT NULL,
      event_type TEXT NOT NULL, json TEXT NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX events_identity ON events (agent_id, start_ms, lat, lng, title);
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE audit (
      audit_id INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, actor_subject TEXT NOT NULL, actor_email TEXT NOT NULL,
      action TEXT NOT NULL, target TEXT NOT NULL, detail TEXT NOT NULL, count INTEGER NOT NULL
    ) STRICT;
    ${records ? "CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT; INSERT INTO migrations VALUES (1, '0001-initial'), (2, '0002-console');" : ''}
    INSERT INTO agents VALUES ('${AGENT_ID}', 'old@example.com', 'Old', 'readwrite', 1, 1, NULL, 1);
    ${insertEvent('1, ')}
    PRAGMA user_version = 10`;
}

/** The same for PostgreSQL, whose nodes worked with schemas from the fourth on. */
export function databaseBefore(records = true): string {
  return `
    CREATE TABLE agents (
      agent_id uuid PRIMARY KEY, email text NOT NULL, agent_name text NOT NULL, tier text NOT NULL, is_active boolean NOT NULL,
      created_ms bigint NOT NULL, last_used_ms bigint, event_count integer NOT NULL DEFAULT 0
    );
    CREATE TABLE keys (
      key_hash text COLLATE "C" PRIMARY KEY, agent_id uuid NOT NULL REFERENCES agents ON DELETE CASCADE, prefix text NOT NULL,
      created_ms bigint NOT NULL, expires_ms bigint
    );
    CREATE TABLE events (
      event_id text COLLATE "C" PRIMARY KEY, agent_id uuid NOT NULL REFERENCES agents, version integer NOT NULL, title text NOT NULL,
      start_ms bigint NOT NULL, end_ms bigint, lat double precision NOT NULL, lng double precision NOT NULL, audience text NOT NULL,
      event_type text NOT NULL, json text NOT NULL
    );
    CREATE TABLE settings (name text COLLATE "C" PRIMARY KEY, value text NOT NULL);
    CREATE TABLE schema_version (version integer NOT NULL${records ? ', names text[]' : ''});
    INSERT INTO schema_version VALUES (${records ? `4, '{0001-start,0002-console,0003-storage,0004-agent-events,0005-event-changes}'` : '1'});
    INSERT INTO agents VALUES ('${AGENT_ID}', 'old@example.com', 'Old', 'readwrite', true, 1, NULL, 1);
    ${insertEvent('')}`;
}

function insertEvent(row: string): string {
  const { event_id, agent_id, title, start_at, lat, lng, audience, event_type } = EVENT;
  const values = `'${event_id}', '${agent_id}', 1, '${title}', ${Date.parse(start_at)}, NULL, ${lat}, ${lng}`;
  return `INSERT INTO events VALUES (${row}${values}, '${audience}', '${event_type}', '${JSON.stringify(EVENT)}');`;
}
