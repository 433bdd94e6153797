-- Whether a change of an event is its deletion. A node that reads a large delete then need not look for each event: see readDeletes.
-- Compatible from: 4

-- False for deletions that were logged before.
ALTER TABLE event_changes ADD COLUMN is_delete boolean NOT NULL DEFAULT false;

-- The same as before, with deletions marked.
CREATE OR REPLACE FUNCTION log_event_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO event_changes (event_id) VALUES (NEW.event_id);
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO event_changes (event_id, is_delete) VALUES (OLD.event_id, true);
  ELSIF TG_OP = 'TRUNCATE' THEN
    INSERT INTO event_changes (event_id) VALUES ('');
  ELSIF OLD.words_by >= NEW.words_by OR OLD.version <> NEW.version OR OLD.json <> NEW.json THEN
    INSERT INTO event_changes (event_id) VALUES (OLD.event_id);
    IF NEW.event_id <> OLD.event_id THEN
      INSERT INTO event_changes (event_id) VALUES (NEW.event_id);
    END IF;
  END IF;
  RETURN NULL;
END $$;
