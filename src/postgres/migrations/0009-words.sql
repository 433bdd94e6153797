-- Words of events, for searches by words with SQL. A node finds the words; the database only stores and looks them up. Rows without
-- them, from before or from nodes of the version before, get them from a node in the background.
-- Compatible from: 4

-- `words_by` is the version of the tokenizer that found the words; 0: none yet.
ALTER TABLE events ADD COLUMN words tsvector;
ALTER TABLE events ADD COLUMN words_by integer NOT NULL DEFAULT 0;

-- A node that knows words writes its version as a negative number when it changes an event: other changes of the JSON, by older
-- nodes or by hand, leave the words outdated.
CREATE FUNCTION check_event_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.words_by < 0 THEN
    NEW.words_by := -NEW.words_by;
  ELSIF NEW.json <> OLD.json THEN
    NEW.words := NULL;
    NEW.words_by := 0;
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER check_event_words BEFORE UPDATE ON events FOR EACH ROW
  WHEN (NEW.words_by < 0 OR NEW.json <> OLD.json) EXECUTE FUNCTION check_event_words();

-- The same as before, but words that are added to an unchanged event are no change: nodes find them in its JSON.
CREATE OR REPLACE FUNCTION log_event_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO event_changes (event_id) VALUES (NEW.event_id);
  ELSIF TG_OP = 'TRUNCATE' THEN
    INSERT INTO event_changes (event_id) VALUES ('');
  ELSIF TG_OP = 'DELETE' OR OLD.words_by >= NEW.words_by OR OLD.version <> NEW.version OR OLD.json <> NEW.json THEN
    INSERT INTO event_changes (event_id) VALUES (OLD.event_id);
    IF TG_OP = 'UPDATE' AND NEW.event_id <> OLD.event_id THEN
      INSERT INTO event_changes (event_id) VALUES (NEW.event_id);
    END IF;
  END IF;
  RETURN NULL;
END $$;

-- The same as before, with words.
CREATE FUNCTION create_event(
  new_id text, owner uuid, new_title text, new_start bigint, new_end bigint, new_lat double precision,
  new_lng double precision, new_audience text, new_type text, new_status text, new_updated bigint, new_json text,
  max_per_agent integer, max_bytes bigint, new_words text, new_words_by integer
) RETURNS TABLE (kind text, found_id text, found_version integer, found_json text) LANGUAGE plpgsql AS $$
DECLARE
  new_bytes bigint := octet_length(new_json);
BEGIN
  LOOP
    INSERT INTO events (event_id, agent_id, version, title, start_ms, end_ms, lat, lng, audience, event_type, status, updated_ms,
        json, words, words_by)
      VALUES (new_id, owner, 1, new_title, new_start, new_end, new_lat, new_lng, new_audience, new_type, new_status, new_updated,
        new_json, array_to_tsvector(string_to_array(new_words, ' ')), new_words_by)
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
