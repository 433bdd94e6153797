-- Whether an event is called off, and when it last changed. Events that were stored before, or are created by older nodes, are
-- scheduled; NULL stands for the time of their creation. A trigger completes what older nodes change.
-- Compatible from: 4

ALTER TABLE events ADD COLUMN status text NOT NULL DEFAULT 'scheduled';
ALTER TABLE events ADD COLUMN updated_ms bigint;

-- Nodes that know the columns set a later updated_ms with every version. Others leave both columns as they are, but write JSON
-- without the status.
CREATE FUNCTION complete_older_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.updated_ms := greatest(OLD.updated_ms + 1, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint);
  IF NEW.status = 'cancelled' AND NEW.json NOT LIKE '%,"status":"cancelled"}' THEN
    NEW.json := left(NEW.json, -1) || ',"status":"cancelled"}';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER complete_older_change BEFORE UPDATE ON events FOR EACH ROW
  WHEN (NEW.version <> OLD.version AND NEW.updated_ms IS NOT DISTINCT FROM OLD.updated_ms)
  EXECUTE FUNCTION complete_older_change();

-- The same as before, with these columns. Nodes of the previous version call the other function.
CREATE FUNCTION create_event(
  new_id text, owner uuid, new_title text, new_start bigint, new_end bigint, new_lat double precision,
  new_lng double precision, new_audience text, new_type text, new_status text, new_updated bigint, new_json text,
  max_per_agent integer, max_bytes bigint
) RETURNS TABLE (kind text, found_id text, found_version integer, found_json text) LANGUAGE plpgsql AS $$
DECLARE
  new_bytes bigint := octet_length(new_json);
BEGIN
  LOOP
    INSERT INTO events (event_id, agent_id, version, title, start_ms, end_ms, lat, lng, audience, event_type, status, updated_ms,
        json)
      VALUES (new_id, owner, 1, new_title, new_start, new_end, new_lat, new_lng, new_audience, new_type, new_status, new_updated,
        new_json)
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
