-- Cancelled events in the order of their starts: for searches that look for them, and to subtract them from the count of all events.
-- It is built beside running nodes, and nothing needs it to be there.
-- Compatible from: 4
-- Outside a transaction

DROP INDEX CONCURRENTLY IF EXISTS events_cancelled;
CREATE INDEX CONCURRENTLY events_cancelled ON events (start_ms, event_id) INCLUDE (event_type, audience)
  WHERE status = 'cancelled';
