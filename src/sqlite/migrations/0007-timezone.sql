-- The timezone of an event, for searches such as `when=today`. Computed from its JSON when it is read, which happens once per
-- event, at the start of the service.

ALTER TABLE events ADD COLUMN timezone TEXT GENERATED ALWAYS AS (json ->> '$.timezone') VIRTUAL;
