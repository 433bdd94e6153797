-- Agents, their keys and their events; settings of the installation; the audit log of administrators.

CREATE TABLE agents (
  agent_id     TEXT PRIMARY KEY,
  email        TEXT NOT NULL,
  agent_name   TEXT NOT NULL,
  tier         TEXT NOT NULL CHECK (tier IN ('read', 'readwrite', 'admin')),
  is_active    INTEGER NOT NULL CHECK (is_active IN (0, 1)),
  created_ms   INTEGER NOT NULL,
  last_used_ms INTEGER,
  event_count  INTEGER NOT NULL DEFAULT 0 CHECK (event_count >= 0)
) STRICT, WITHOUT ROWID;

CREATE INDEX agents_by_creation ON agents (created_ms, agent_id);

CREATE TABLE keys (
  key_hash   TEXT PRIMARY KEY,
  agent_id   TEXT NOT NULL REFERENCES agents ON DELETE CASCADE,
  prefix     TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX keys_by_agent ON keys (agent_id);

-- Events as the JSON of responses, with extra columns for the fields used in queries.
CREATE TABLE events (
  row_id     INTEGER PRIMARY KEY,
  event_id   TEXT NOT NULL UNIQUE,
  agent_id   TEXT NOT NULL REFERENCES agents,
  version    INTEGER NOT NULL,
  title      TEXT NOT NULL,
  start_ms   INTEGER NOT NULL,
  end_ms     INTEGER,
  lat        REAL NOT NULL,
  lng        REAL NOT NULL,
  audience   TEXT NOT NULL,
  event_type TEXT NOT NULL,
  json       TEXT NOT NULL
) STRICT;

-- Makes creates idempotent. Its first columns also serve to list an agent's events by start.
CREATE UNIQUE INDEX events_identity ON events (agent_id, start_ms, lat, lng, title);

CREATE TABLE settings (
  name  TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
  audit_id      INTEGER PRIMARY KEY,
  at_ms         INTEGER NOT NULL,
  actor_subject TEXT NOT NULL,
  actor_email   TEXT NOT NULL,
  action        TEXT NOT NULL,
  target        TEXT NOT NULL,
  detail        TEXT NOT NULL,
  count         INTEGER NOT NULL
) STRICT;
