-- What administrators delete is kept for some days, so that it can be restored. `undo` of an entry of the audit log says whether: null:
-- nothing was kept; kept; for_good; restored; expiring: its rows are being removed; expired. `titles` has the first titles as JSON.

ALTER TABLE audit ADD COLUMN titles TEXT;
ALTER TABLE audit ADD COLUMN undo TEXT;
ALTER TABLE audit ADD COLUMN restored_ms INTEGER;

CREATE INDEX audit_undo ON audit (undo, at_ms) WHERE undo IN ('kept', 'expiring');

-- The columns of events, keys and agents as they were. Nothing else reads these tables.
CREATE TABLE deleted_events (
  event_id   TEXT PRIMARY KEY,
  agent_id   TEXT NOT NULL,
  version    INTEGER NOT NULL,
  title      TEXT NOT NULL,
  start_ms   INTEGER NOT NULL,
  end_ms     INTEGER,
  lat        REAL NOT NULL,
  lng        REAL NOT NULL,
  audience   TEXT NOT NULL,
  event_type TEXT NOT NULL,
  status     TEXT NOT NULL,
  updated_ms INTEGER,
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
  key_hash   TEXT PRIMARY KEY,
  prefix     TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER,
  last_used_ms INTEGER,
  audit_id   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX deleted_keys_by_entry ON deleted_keys (audit_id);

-- The same as before, but several per agent: a row belongs to the one with the lowest `up_to_row` that is not below it, and is kept for
-- the entry `audit_id`; null: it is not kept.
CREATE TABLE new_removals (
  agent_id   TEXT NOT NULL REFERENCES agents ON DELETE CASCADE,
  up_to_row  INTEGER NOT NULL,
  with_agent INTEGER NOT NULL CHECK (with_agent IN (0, 1)),
  audit_id   INTEGER,
  PRIMARY KEY (agent_id, up_to_row)
) STRICT, WITHOUT ROWID;

INSERT INTO new_removals SELECT agent_id, up_to_row, with_agent, NULL FROM removals;
DROP TABLE removals;
ALTER TABLE new_removals RENAME TO removals;
