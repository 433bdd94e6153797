-- An agent's events by ID, which begins with the time of creation: to count those that it created lately.

CREATE INDEX events_by_agent ON events (agent_id, event_id);
