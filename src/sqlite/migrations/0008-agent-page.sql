-- For the page of an agent and the filters of the audit log: last uses of keys, sessions that a person ended everywhere, indexes.

ALTER TABLE keys ADD COLUMN last_used_ms INTEGER;

-- A session is valid only if it has the epoch of its subject, if there is one.
CREATE TABLE session_epochs (
  subject TEXT PRIMARY KEY,
  epoch   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The agent of an entry: the owner of a deleted event, otherwise the target.
CREATE INDEX audit_by_agent ON audit (
  CASE WHEN json_valid(detail) THEN coalesce(detail ->> '$.agent_id', target) ELSE target END
);

-- Everything else that filters compare, in the order of the list. Any combination of them reads only this.
CREATE INDEX audit_filters ON audit (audit_id, at_ms, action, actor_subject, actor_email);
