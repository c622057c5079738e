#!/bin/sh
# Creates the role of the control plane, which owns the database and is not a superuser. PostgreSQL's image runs this
# once, after it has created the database. It sources this file, so the file must not set shell options.
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" <<'SQL'
\getenv password CONTROL_PLANE_DATABASE_PASSWORD
\getenv database POSTGRES_DB
create role "control-plane" login password :'password';
alter database :"database" owner to "control-plane";
revoke connect on database :"database" from public;
SQL
