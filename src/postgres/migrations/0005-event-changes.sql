-- A log of changed events, which nodes read to keep their index in memory up to date. A row says only that an event changed: its
-- content is read from `events`, in the same snapshot. The trigger writes it, so changes by older nodes and by hand are in it, too.
-- All tables are named event_changes…, so that one option keeps their data out of pg_dump: IDs of transactions mean nothing elsewhere.
-- Compatible from: 4

-- `event_id` is empty if all events were truncated. `stamp` is random: IDs of transactions are used again after a failover that
-- lost some. Every row has the ID of its top-level transaction, also within a savepoint.
CREATE TABLE event_changes (
  xid      xid8 NOT NULL DEFAULT pg_current_xact_id(),
  event_id text COLLATE "C" NOT NULL,
  stamp    bigint NOT NULL DEFAULT (random() * 9007199254740991)::bigint
);

CREATE INDEX event_changes_by_xid ON event_changes (xid);

-- Without a key, a publication of all tables would refuse to delete rows.
ALTER TABLE event_changes REPLICA IDENTITY FULL;

-- The log has every change from this transaction on; older ones may be deleted. No row: nothing was deleted yet.
CREATE TABLE event_changes_horizon (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  xid      xid8 NOT NULL
);

-- A random value for as long as no change can have been lost: PostgreSQL empties an unlogged table after a crash, and a promoted
-- standby has it empty. Whoever finds it empty inserts a value.
CREATE UNLOGGED TABLE event_changes_incarnation (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  value    uuid NOT NULL DEFAULT gen_random_uuid()
);

-- With the owner's rights, so that a role with rights on `events` only can still write.
CREATE FUNCTION log_event_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO event_changes (event_id) VALUES (NEW.event_id);
  ELSIF TG_OP = 'TRUNCATE' THEN
    INSERT INTO event_changes (event_id) VALUES ('');
  ELSE
    INSERT INTO event_changes (event_id) VALUES (OLD.event_id);
    IF TG_OP = 'UPDATE' AND NEW.event_id <> OLD.event_id THEN
      INSERT INTO event_changes (event_id) VALUES (NEW.event_id);
    END IF;
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER log_event_change AFTER INSERT OR UPDATE OR DELETE ON events
  FOR EACH ROW EXECUTE FUNCTION log_event_change();
CREATE TRIGGER log_event_truncate AFTER TRUNCATE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION log_event_change();

-- Also for changes that replication applies.
ALTER TABLE events ENABLE ALWAYS TRIGGER log_event_change;
ALTER TABLE events ENABLE ALWAYS TRIGGER log_event_truncate;
