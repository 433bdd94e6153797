-- For the console: the name of a changed agent or event, and sessions that ended before they expired.

ALTER TABLE audit ADD COLUMN target_name TEXT NOT NULL DEFAULT '';

CREATE TABLE ended_sessions (
  session_id TEXT PRIMARY KEY,
  expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
