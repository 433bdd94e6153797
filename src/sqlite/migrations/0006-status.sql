-- Whether an event is called off, and when it last changed. Events that were stored before are scheduled. Of their changes nothing
-- is known: NULL stands for the time of their creation.

ALTER TABLE events ADD COLUMN status TEXT NOT NULL DEFAULT 'scheduled';
ALTER TABLE events ADD COLUMN updated_ms INTEGER;
