-- The schema of 1.0.0: agents with their keys and events, settings, the audit log, and what can be restored. Times are milliseconds
-- since 1970. Tables that PostgreSQL has, too, have the same columns there.

-- `event_count` and `event_bytes` (UTF-8 bytes of the JSON) are those of the agent's stored events.
CREATE TABLE agents (
  agent_id     TEXT PRIMARY KEY,
  email        TEXT NOT NULL,
  agent_name   TEXT NOT NULL,
  tier         TEXT NOT NULL CHECK (tier IN ('read', 'readwrite', 'admin')),
  is_active    INTEGER NOT NULL CHECK (is_active IN (0, 1)),
  created_ms   INTEGER NOT NULL,
  last_used_ms INTEGER,
  event_count  INTEGER NOT NULL DEFAULT 0 CHECK (event_count >= 0),
  event_bytes  INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE INDEX agents_by_creation ON agents (created_ms, agent_id);

-- Agents that may be removed because they were never used.
CREATE INDEX agents_unused ON agents (created_ms) WHERE last_used_ms IS NULL AND event_count = 0;

CREATE TABLE keys (
  key_hash     TEXT PRIMARY KEY,
  agent_id     TEXT NOT NULL REFERENCES agents ON DELETE CASCADE,
  prefix       TEXT NOT NULL,
  created_ms   INTEGER NOT NULL,
  expires_ms   INTEGER,
  last_used_ms INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX keys_by_agent ON keys (agent_id);

-- Events as the JSON of responses, with a column for each field that queries use. A new event has a higher `row_id` than all others.
CREATE TABLE events (
  row_id     INTEGER PRIMARY KEY,
  event_id   TEXT NOT NULL UNIQUE,
  agent_id   TEXT NOT NULL REFERENCES agents,
  version    INTEGER NOT NULL,
  title      TEXT NOT NULL,
  start_ms   INTEGER NOT NULL,
  end_ms     INTEGER,
  timezone   TEXT NOT NULL,
  lat        REAL NOT NULL,
  lng        REAL NOT NULL,
  audience   TEXT NOT NULL,
  event_type TEXT NOT NULL,
  status     TEXT NOT NULL,
  updated_ms INTEGER NOT NULL,
  json       TEXT NOT NULL
) STRICT;

-- Makes creates idempotent. Its first columns also serve to list an agent's events by start.
CREATE UNIQUE INDEX events_identity ON events (agent_id, start_ms, lat, lng, title);

-- An agent's events by ID, which begins with the time of creation: to count those that it created lately.
CREATE INDEX events_by_agent ON events (agent_id, event_id);

-- Rows that count as deleted, and are removed in slices: an agent's events up to a row, and with the last of them the agent, if it was
-- deleted, too. A row belongs to the entry with the lowest `up_to_row` that is not below it, and is kept for `audit_id`; null: it is not
-- kept.
CREATE TABLE removals (
  agent_id   TEXT NOT NULL REFERENCES agents ON DELETE CASCADE,
  up_to_row  INTEGER NOT NULL,
  with_agent INTEGER NOT NULL CHECK (with_agent IN (0, 1)),
  audit_id   INTEGER,
  PRIMARY KEY (agent_id, up_to_row)
) STRICT, WITHOUT ROWID;

-- What everybody reads instead of the tables: the rows that are not being removed.
CREATE VIEW stored_events AS SELECT * FROM events WHERE NOT EXISTS (
  SELECT 1 FROM removals WHERE removals.agent_id = events.agent_id AND events.row_id <= up_to_row);
CREATE VIEW stored_agents AS
  SELECT * FROM agents WHERE agent_id NOT IN (SELECT agent_id FROM removals WHERE with_agent = 1);

-- The events of agents with many events, in the order of their lists and by their ends, so that a page reads few of them. Either all
-- events of an agent are in it, or none. event-order.ts adds agents and new events.
CREATE TABLE event_order (
  agent_id TEXT NOT NULL,
  start_ms INTEGER NOT NULL,
  event_id TEXT NOT NULL,
  ends_ms  INTEGER NOT NULL,
  PRIMARY KEY (agent_id, start_ms, event_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX event_order_by_end ON event_order (agent_id, ends_ms);

-- Triggers, so that changes and deletes that are made by hand are followed, too. 10800000 ms (3 hours) is ASSUMED_DURATION_MS.
CREATE TRIGGER event_order_update AFTER UPDATE OF start_ms, end_ms ON events
WHEN NEW.start_ms <> OLD.start_ms OR NEW.end_ms IS NOT OLD.end_ms
BEGIN
  UPDATE event_order SET start_ms = NEW.start_ms, ends_ms = coalesce(NEW.end_ms, NEW.start_ms + 10800000)
    WHERE agent_id = OLD.agent_id AND start_ms = OLD.start_ms AND event_id = OLD.event_id;
END;

CREATE TRIGGER event_order_delete AFTER DELETE ON events
BEGIN
  DELETE FROM event_order
    WHERE agent_id = OLD.agent_id AND start_ms = OLD.start_ms AND event_id = OLD.event_id;
END;

-- What the service remembers by name: its secrets, and with an expiry the sessions that ended early.
CREATE TABLE settings (
  name       TEXT PRIMARY KEY,
  value      TEXT NOT NULL,
  expires_ms INTEGER
) STRICT, WITHOUT ROWID;

-- What administrators did. `undo` says whether it can be restored: null: nothing was kept; kept; for_good; restored; expiring: its rows
-- are being removed; expired. `titles` has the first titles as JSON.
CREATE TABLE audit (
  audit_id      INTEGER PRIMARY KEY,
  at_ms         INTEGER NOT NULL,
  actor_subject TEXT NOT NULL,
  actor_email   TEXT NOT NULL,
  action        TEXT NOT NULL,
  target        TEXT NOT NULL,
  target_name   TEXT NOT NULL,
  detail        TEXT NOT NULL,
  count         INTEGER NOT NULL,
  titles        TEXT,
  undo          TEXT,
  restored_ms   INTEGER
) STRICT;

-- The agent of an entry: the owner of a deleted event, otherwise the target.
CREATE INDEX audit_by_agent ON audit (
  CASE WHEN json_valid(detail) THEN coalesce(detail ->> '$.agent_id', target) ELSE target END
);

-- Everything else that filters compare, in the order of the list. Any combination of them reads only this.
CREATE INDEX audit_filters ON audit (audit_id, at_ms, action, actor_subject, actor_email);

CREATE INDEX audit_undo ON audit (undo, at_ms) WHERE undo IN ('kept', 'expiring');

-- What administrators deleted, kept for an entry of the audit log: the columns of events, keys and agents as they were. Nothing else
-- reads these tables.
CREATE TABLE deleted_events (
  event_id   TEXT PRIMARY KEY,
  agent_id   TEXT NOT NULL,
  version    INTEGER NOT NULL,
  title      TEXT NOT NULL,
  start_ms   INTEGER NOT NULL,
  end_ms     INTEGER,
  timezone   TEXT NOT NULL,
  lat        REAL NOT NULL,
  lng        REAL NOT NULL,
  audience   TEXT NOT NULL,
  event_type TEXT NOT NULL,
  status     TEXT NOT NULL,
  updated_ms INTEGER NOT NULL,
  json       TEXT NOT NULL,
  audit_id   INTEGER NOT NULL
) STRICT;

CREATE INDEX deleted_events_by_entry ON deleted_events (audit_id, event_id);
CREATE INDEX deleted_events_by_agent ON deleted_events (agent_id);

CREATE TABLE deleted_agents (
  audit_id     INTEGER PRIMARY KEY,
  agent_id     TEXT NOT NULL,
  email        TEXT NOT NULL,
  agent_name   TEXT NOT NULL,
  tier         TEXT NOT NULL,
  is_active    INTEGER NOT NULL,
  created_ms   INTEGER NOT NULL,
  last_used_ms INTEGER
) STRICT;

CREATE TABLE deleted_keys (
  key_hash     TEXT PRIMARY KEY,
  prefix       TEXT NOT NULL,
  created_ms   INTEGER NOT NULL,
  expires_ms   INTEGER,
  last_used_ms INTEGER,
  audit_id     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX deleted_keys_by_entry ON deleted_keys (audit_id);
