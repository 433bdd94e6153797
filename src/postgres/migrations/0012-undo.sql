-- What administrators delete is kept for some days, so that it can be restored. `undo` of an entry of the audit log says whether: null:
-- nothing was kept; kept; for_good; restored; expiring: its rows are being removed; expired. `titles` has the first titles as JSON.
-- Older nodes delete as before, and keep nothing.
-- Compatible from: 4

ALTER TABLE audit ADD COLUMN titles text;
ALTER TABLE audit ADD COLUMN undo text;
ALTER TABLE audit ADD COLUMN restored_ms bigint;

CREATE INDEX audit_undo ON audit (undo, at_ms) WHERE undo IN ('kept', 'expiring');

-- The columns of events, keys and agents as they were. Nothing else reads these tables.
CREATE TABLE deleted_events (
  event_id   text COLLATE "C" PRIMARY KEY,
  agent_id   uuid NOT NULL,
  version    integer NOT NULL,
  title      text NOT NULL,
  start_ms   bigint NOT NULL,
  end_ms     bigint,
  lat        double precision NOT NULL,
  lng        double precision NOT NULL,
  audience   text NOT NULL,
  event_type text NOT NULL,
  status     text NOT NULL,
  updated_ms bigint,
  json       text NOT NULL,
  audit_id   bigint NOT NULL
);

CREATE INDEX deleted_events_by_entry ON deleted_events (audit_id, event_id);
CREATE INDEX deleted_events_by_agent ON deleted_events (agent_id);

CREATE TABLE deleted_agents (
  audit_id     bigint PRIMARY KEY,
  agent_id     uuid NOT NULL,
  email        text NOT NULL,
  agent_name   text NOT NULL,
  tier         text NOT NULL,
  is_active    boolean NOT NULL,
  created_ms   bigint NOT NULL,
  last_used_ms bigint
);

CREATE TABLE deleted_keys (
  key_hash   text COLLATE "C" PRIMARY KEY,
  prefix     text NOT NULL,
  created_ms bigint NOT NULL,
  expires_ms bigint,
  last_used_ms bigint,
  audit_id   bigint NOT NULL
);

CREATE INDEX deleted_keys_by_entry ON deleted_keys (audit_id);
