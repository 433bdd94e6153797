-- The events of agents with many events, in the order of their lists and by their ends, so that a page reads few of them.
-- Either all events of an agent are in it, or none. event-order.ts adds agents and new events. These triggers follow changes
-- and deletes. 10800000 ms (3 hours) is ASSUMED_DURATION_MS.

CREATE TABLE event_order (
  agent_id TEXT NOT NULL,
  start_ms INTEGER NOT NULL,
  event_id TEXT NOT NULL,
  ends_ms  INTEGER NOT NULL,
  PRIMARY KEY (agent_id, start_ms, event_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX event_order_by_end ON event_order (agent_id, ends_ms);

CREATE TRIGGER event_order_update AFTER UPDATE OF start_ms, end_ms ON events
WHEN NEW.start_ms <> OLD.start_ms OR NEW.end_ms IS NOT OLD.end_ms
BEGIN
  UPDATE event_order SET start_ms = NEW.start_ms, ends_ms = coalesce(NEW.end_ms, NEW.start_ms + 10800000)
    WHERE agent_id = OLD.agent_id AND start_ms = OLD.start_ms AND event_id = OLD.event_id;
END;

CREATE TRIGGER event_order_delete AFTER DELETE ON events
BEGIN
  DELETE FROM event_order
    WHERE agent_id = OLD.agent_id AND start_ms = OLD.start_ms AND event_id = OLD.event_id;
END;
