-- Bytes of an agent's stored events, for a limit: the sum of the UTF-8 bytes of their JSON.

ALTER TABLE agents ADD COLUMN event_bytes INTEGER NOT NULL DEFAULT 0;

-- The plus sign makes SQLite read the table in file order: far faster than by the index on agents.
UPDATE agents SET event_bytes = stored.bytes
  FROM (SELECT agent_id, sum(octet_length(json)) AS bytes FROM events GROUP BY +agent_id) AS stored
  WHERE agents.agent_id = stored.agent_id;

-- Agents that may be removed because they were never used.
CREATE INDEX agents_unused ON agents (created_ms) WHERE last_used_ms IS NULL AND event_count = 0;
