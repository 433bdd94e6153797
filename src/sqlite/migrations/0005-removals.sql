-- Events that are being removed: those of the agent up to this row. They count as deleted, and their rows follow in slices;
-- with the last one goes the agent, if it was deleted, too.
CREATE TABLE removals (
  agent_id   TEXT PRIMARY KEY REFERENCES agents ON DELETE CASCADE,
  up_to_row  INTEGER NOT NULL,
  with_agent INTEGER NOT NULL CHECK (with_agent IN (0, 1))
) STRICT, WITHOUT ROWID;
