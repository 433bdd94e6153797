#!/bin/sh
# Run once by the database's image of compose.yaml, after PostGIS is in the database: a role without special rights.
set -eu
psql --set=ON_ERROR_STOP=1 --set=password="$EVENTS_PASSWORD" --username="$POSTGRES_USER" --dbname=events <<'SQL'
CREATE ROLE events LOGIN PASSWORD :'password';
ALTER DATABASE events OWNER TO events;
GRANT ALL ON SCHEMA public TO events;
SQL
