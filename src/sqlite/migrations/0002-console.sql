-- For the console: what a changed agent or event was called, and sessions that ended before they expired.

ALTER TABLE audit ADD COLUMN target_name TEXT NOT NULL DEFAULT '';

CREATE TABLE ended_sessions (
  session_id TEXT PRIMARY KEY,
  expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
