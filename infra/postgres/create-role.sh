#!/bin/sh
# Makes the role of the control plane: it owns the database and is no superuser. PostgreSQL's image runs this once, when
# it makes the database. It sources this file, so no option of the shell is set here.
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" <<'SQL'
\getenv password CONTROL_PLANE_DATABASE_PASSWORD
\getenv database POSTGRES_DB
create role "control-plane" login password :'password';
alter database :"database" owner to "control-plane";
revoke connect on database :"database" from public;
SQL
