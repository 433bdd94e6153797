-- For the console: the name of a changed agent or event, and sessions that ended before they expired. The default is for
-- nodes of the previous version, which still write to the audit log.

ALTER TABLE audit ADD COLUMN target_name text NOT NULL DEFAULT '';

CREATE TABLE ended_sessions (
  session_id text COLLATE "C" PRIMARY KEY,
  expires_ms bigint NOT NULL
);
