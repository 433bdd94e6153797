#!/bin/sh
# Creates the service's database role, without superuser rights. The database image of compose.yaml runs this once, after it
# has installed PostGIS.
set -eu
psql --set=ON_ERROR_STOP=1 --set=password="$EVENTS_PASSWORD" --username="$POSTGRES_USER" --dbname=events <<'SQL'
CREATE ROLE events LOGIN PASSWORD :'password';
ALTER DATABASE events OWNER TO events;
GRANT ALL ON SCHEMA public TO events;
SQL
