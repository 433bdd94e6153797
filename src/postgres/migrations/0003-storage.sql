-- Bytes of an agent's stored events, for a limit: the sum of the UTF-8 bytes of their JSON. create_event and bulk inserts add
-- to it. Triggers follow changes and deletes, so that the sum stays right while nodes of the previous version still write.

-- No writes until the end of the migration. Events first: a create locks its tables in the same order.
LOCK TABLE events IN SHARE ROW EXCLUSIVE MODE;

ALTER TABLE agents ADD COLUMN event_bytes bigint NOT NULL DEFAULT 0;

UPDATE agents SET event_bytes = stored.bytes
  FROM (SELECT agent_id, sum(octet_length(json)) AS bytes FROM events GROUP BY agent_id) AS stored
  WHERE agents.agent_id = stored.agent_id;

CREATE FUNCTION count_changed_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE agents SET event_bytes = greatest(0, event_bytes + octet_length(NEW.json) - octet_length(OLD.json))
    WHERE agent_id = NEW.agent_id;
  RETURN NULL;
END $$;

CREATE TRIGGER count_changed_bytes AFTER UPDATE OF json ON events FOR EACH ROW
  WHEN (octet_length(OLD.json) <> octet_length(NEW.json)) EXECUTE FUNCTION count_changed_bytes();

-- Once per statement: a delete may concern thousands of events.
CREATE FUNCTION count_deleted_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE agents SET event_bytes = greatest(0, event_bytes - freed.bytes)
    FROM (SELECT agent_id, sum(octet_length(json)) AS bytes FROM deleted GROUP BY agent_id) AS freed
    WHERE agents.agent_id = freed.agent_id;
  RETURN NULL;
END $$;

CREATE TRIGGER count_deleted_bytes AFTER DELETE ON events REFERENCING OLD TABLE AS deleted
  FOR EACH STATEMENT EXECUTE FUNCTION count_deleted_bytes();

-- The same as before, with a limit of bytes.
CREATE FUNCTION create_event(
  new_id text, owner uuid, new_title text, new_start bigint, new_end bigint, new_lat double precision,
  new_lng double precision, new_audience text, new_type text, new_json text, max_per_agent integer, max_bytes bigint
) RETURNS TABLE (kind text, found_id text, found_version integer, found_json text) LANGUAGE plpgsql AS $$
DECLARE
  new_bytes bigint := octet_length(new_json);
BEGIN
  LOOP
    INSERT INTO events (event_id, agent_id, version, title, start_ms, end_ms, lat, lng, audience, event_type, json)
      VALUES (new_id, owner, 1, new_title, new_start, new_end, new_lat, new_lng, new_audience, new_type, new_json)
      ON CONFLICT (agent_id, start_ms, lat, lng, title) DO NOTHING;
    IF FOUND THEN
      UPDATE agents SET event_count = event_count + 1, event_bytes = event_bytes + new_bytes
        WHERE agent_id = owner AND (max_per_agent = 0 OR event_count < max_per_agent)
          AND (max_bytes = 0 OR event_bytes + new_bytes <= max_bytes);
      IF NOT FOUND THEN
        IF max_per_agent > 0 AND (SELECT event_count >= max_per_agent FROM agents WHERE agent_id = owner) THEN
          RAISE EXCEPTION 'the agent holds % events', max_per_agent USING ERRCODE = 'LE001';
        END IF;
        RAISE EXCEPTION 'the events of the agent would have more than % bytes', max_bytes USING ERRCODE = 'LE002';
      END IF;
      RETURN QUERY SELECT 'created', NULL::text, NULL::integer, NULL::text;
      RETURN;
    END IF;
    RETURN QUERY SELECT 'existing', event_id::text, version, json FROM events
      WHERE agent_id = owner AND start_ms = new_start AND lat = new_lat AND lng = new_lng AND title = new_title;
    IF FOUND THEN
      RETURN;
    END IF;
    -- The other one was deleted in between.
  END LOOP;
END $$;

-- For nodes of the previous version, which know no limit of bytes.
CREATE OR REPLACE FUNCTION create_event(
  new_id text, owner uuid, new_title text, new_start bigint, new_end bigint, new_lat double precision,
  new_lng double precision, new_audience text, new_type text, new_json text, max_per_agent integer
) RETURNS TABLE (kind text, found_id text, found_version integer, found_json text) LANGUAGE sql AS $$
  SELECT * FROM create_event(new_id, owner, new_title, new_start, new_end, new_lat, new_lng, new_audience, new_type, new_json,
    max_per_agent, 0)
$$;
