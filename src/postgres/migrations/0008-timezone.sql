-- The timezone of an event, for searches such as `when=today`. A trigger copies it from the JSON, also for nodes of the previous
-- version. Rows that were stored before keep null: filling them would lock and log every event. Searches read their JSON.
-- Compatible from: 4

ALTER TABLE events ADD COLUMN timezone text;

CREATE FUNCTION set_event_timezone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.timezone := NEW.json::json ->> 'timezone';
  RETURN NEW;
END $$;

CREATE TRIGGER set_event_timezone BEFORE INSERT OR UPDATE OF json ON events
  FOR EACH ROW EXECUTE FUNCTION set_event_timezone();
