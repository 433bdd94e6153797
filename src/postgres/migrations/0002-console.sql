-- For the console: what a changed agent or event was called, and sessions that ended before they expired. Nodes of the
-- version before go on writing to the audit log: for them there is a default.

ALTER TABLE audit ADD COLUMN target_name text NOT NULL DEFAULT '';

CREATE TABLE ended_sessions (
  session_id text COLLATE "C" PRIMARY KEY,
  expires_ms bigint NOT NULL
);
