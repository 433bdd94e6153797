#!/bin/sh
# Creates the service's database role, without superuser rights. The database image of compose.yaml runs this once, after it
# has installed PostGIS. psql reads the password from the environment: arguments are in the list of processes.
set -eu
psql --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname=events <<'SQL'
\getenv password EVENTS_PASSWORD
CREATE ROLE events LOGIN PASSWORD :'password';
ALTER DATABASE events OWNER TO events;
GRANT ALL ON SCHEMA public TO events;
SQL
