-- An agent's events in the order of its lists, with their ends: for pages by start, and for counting events that have ended,
-- without reading the events themselves.

CREATE INDEX events_of_agent ON events (agent_id, start_ms, event_id, ends_ms);
