-- Grants: what people allow MCP clients to do for their agents, with the tokens of the clients, and clients that registered themselves.
-- Nodes of 1.0.0 do not know these tables.
-- Compatible from: 1

-- Clients that registered themselves. `redirect_uris` is a JSON list. Only unused ones expire.
CREATE TABLE oauth_clients (
  client_id     text COLLATE "C" PRIMARY KEY,
  registered_ms bigint NOT NULL,
  is_used       boolean NOT NULL,
  client_name   text NOT NULL,
  redirect_uris text NOT NULL
);

CREATE INDEX oauth_clients_by_age ON oauth_clients (is_used, registered_ms);

-- `key_hash` is the key that the person used, `current_key_hash` the newest key since the agent rotated it. `exchanged_ms` is null until
-- the client has exchanged the code for tokens. `scopes` are separated by spaces.
CREATE TABLE grants (
  grant_id         uuid PRIMARY KEY,
  agent_id         uuid NOT NULL REFERENCES agents ON DELETE CASCADE,
  key_hash         text NOT NULL,
  current_key_hash text NOT NULL,
  client_id        text NOT NULL,
  client_name      text NOT NULL,
  client_host      text,
  scopes           text NOT NULL,
  created_ms       bigint NOT NULL,
  last_used_ms     bigint NOT NULL,
  code_hash        text COLLATE "C" NOT NULL UNIQUE,
  redirect_uri     text NOT NULL,
  code_challenge   text NOT NULL,
  code_expires_ms  bigint NOT NULL,
  exchanged_ms     bigint
);

CREATE INDEX grants_by_agent ON grants (agent_id);
CREATE INDEX grants_by_use ON grants (last_used_ms);

-- A refresh token does not expire; once it was used, it is `rotated` and does. `scopes` null: those of the grant.
CREATE TABLE grant_tokens (
  token_hash text COLLATE "C" PRIMARY KEY,
  grant_id   uuid NOT NULL REFERENCES grants ON DELETE CASCADE,
  kind       text NOT NULL CHECK (kind IN ('access', 'refresh', 'rotated')),
  scopes     text,
  created_ms bigint NOT NULL,
  expires_ms bigint
);

CREATE INDEX grant_tokens_by_grant ON grant_tokens (grant_id);

-- Of deleted agents, kept for an entry of the audit log: the columns as they were.
CREATE TABLE deleted_grants (
  grant_id         uuid PRIMARY KEY,
  agent_id         uuid NOT NULL,
  key_hash         text NOT NULL,
  current_key_hash text NOT NULL,
  client_id        text NOT NULL,
  client_name      text NOT NULL,
  client_host      text,
  scopes           text NOT NULL,
  created_ms       bigint NOT NULL,
  last_used_ms     bigint NOT NULL,
  code_hash        text NOT NULL,
  redirect_uri     text NOT NULL,
  code_challenge   text NOT NULL,
  code_expires_ms  bigint NOT NULL,
  exchanged_ms     bigint,
  audit_id         bigint NOT NULL
);

CREATE INDEX deleted_grants_by_entry ON deleted_grants (audit_id);

CREATE TABLE deleted_grant_tokens (
  token_hash text COLLATE "C" PRIMARY KEY,
  grant_id   uuid NOT NULL,
  kind       text NOT NULL,
  scopes     text,
  created_ms bigint NOT NULL,
  expires_ms bigint,
  audit_id   bigint NOT NULL
);

CREATE INDEX deleted_grant_tokens_by_entry ON deleted_grant_tokens (audit_id);
CREATE INDEX deleted_grant_tokens_by_grant ON deleted_grant_tokens (grant_id);

-- Settings that expire are removed by whoever adds one.
CREATE INDEX settings_by_expiry ON settings (expires_ms) WHERE expires_ms IS NOT NULL;
