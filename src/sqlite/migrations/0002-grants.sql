-- Grants: what people allow MCP clients to do for their agents, with the tokens of the clients, and clients that registered themselves.
-- Tables that PostgreSQL has, too, have the same columns there.

-- Clients that registered themselves. `redirect_uris` is a JSON list. Only unused ones expire.
CREATE TABLE oauth_clients (
  client_id     TEXT PRIMARY KEY,
  registered_ms INTEGER NOT NULL,
  is_used       INTEGER NOT NULL CHECK (is_used IN (0, 1)),
  client_name   TEXT NOT NULL,
  redirect_uris TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX oauth_clients_by_age ON oauth_clients (is_used, registered_ms);

-- `key_hash` is the key that the person used, `current_key_hash` the newest key since the agent rotated it. `exchanged_ms` is null until
-- the client has exchanged the code for tokens. `scopes` are separated by spaces.
CREATE TABLE grants (
  grant_id         TEXT PRIMARY KEY,
  agent_id         TEXT NOT NULL REFERENCES agents ON DELETE CASCADE,
  key_hash         TEXT NOT NULL,
  current_key_hash TEXT NOT NULL,
  client_id        TEXT NOT NULL,
  client_name      TEXT NOT NULL,
  client_host      TEXT,
  scopes           TEXT NOT NULL,
  created_ms       INTEGER NOT NULL,
  last_used_ms     INTEGER NOT NULL,
  code_hash        TEXT NOT NULL UNIQUE,
  redirect_uri     TEXT NOT NULL,
  code_challenge   TEXT NOT NULL,
  code_expires_ms  INTEGER NOT NULL,
  exchanged_ms     INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX grants_by_agent ON grants (agent_id);
CREATE INDEX grants_by_use ON grants (last_used_ms);

-- A refresh token does not expire; once it was used, it is `rotated` and does. `scopes` null: those of the grant.
CREATE TABLE grant_tokens (
  token_hash TEXT PRIMARY KEY,
  grant_id   TEXT NOT NULL REFERENCES grants ON DELETE CASCADE,
  kind       TEXT NOT NULL CHECK (kind IN ('access', 'refresh', 'rotated')),
  scopes     TEXT,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX grant_tokens_by_grant ON grant_tokens (grant_id);

-- All that a start reads of access tokens.
CREATE INDEX grant_tokens_by_expiry ON grant_tokens (expires_ms, grant_id, scopes) WHERE kind = 'access';

-- Of deleted agents, kept for an entry of the audit log: the columns as they were.
CREATE TABLE deleted_grants (
  grant_id         TEXT PRIMARY KEY,
  agent_id         TEXT NOT NULL,
  key_hash         TEXT NOT NULL,
  current_key_hash TEXT NOT NULL,
  client_id        TEXT NOT NULL,
  client_name      TEXT NOT NULL,
  client_host      TEXT,
  scopes           TEXT NOT NULL,
  created_ms       INTEGER NOT NULL,
  last_used_ms     INTEGER NOT NULL,
  code_hash        TEXT NOT NULL,
  redirect_uri     TEXT NOT NULL,
  code_challenge   TEXT NOT NULL,
  code_expires_ms  INTEGER NOT NULL,
  exchanged_ms     INTEGER,
  audit_id         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX deleted_grants_by_entry ON deleted_grants (audit_id);

CREATE TABLE deleted_grant_tokens (
  token_hash TEXT PRIMARY KEY,
  grant_id   TEXT NOT NULL,
  kind       TEXT NOT NULL,
  scopes     TEXT,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER,
  audit_id   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX deleted_grant_tokens_by_entry ON deleted_grant_tokens (audit_id);
CREATE INDEX deleted_grant_tokens_by_grant ON deleted_grant_tokens (grant_id);

-- Settings that expire are removed by whoever adds one.
CREATE INDEX settings_by_expiry ON settings (expires_ms) WHERE expires_ms IS NOT NULL;
