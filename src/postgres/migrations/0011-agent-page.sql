-- For the page of an agent and the filters of the audit log: last uses of keys, sessions that a person ended everywhere, indexes.
-- Older nodes do not record last uses, and still accept sessions that were ended everywhere.
-- Compatible from: 4
-- Outside a transaction

ALTER TABLE keys ADD COLUMN IF NOT EXISTS last_used_ms bigint;
CREATE TABLE IF NOT EXISTS session_epochs (
  subject text COLLATE "C" PRIMARY KEY,
  epoch   text NOT NULL
);
DROP INDEX CONCURRENTLY IF EXISTS audit_by_agent;
CREATE INDEX CONCURRENTLY audit_by_agent ON audit (
  (coalesce(substring(detail FROM '"agent_id":"([0-9a-f-]{36})"'), target)), audit_id
);
DROP INDEX CONCURRENTLY IF EXISTS audit_by_time;
CREATE INDEX CONCURRENTLY audit_by_time ON audit (at_ms);
DROP INDEX CONCURRENTLY IF EXISTS audit_by_action;
CREATE INDEX CONCURRENTLY audit_by_action ON audit (action, audit_id);
