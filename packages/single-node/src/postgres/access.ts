import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { escapeIdentifier, escapeLiteral } from 'pg';
import { writePrivateFile } from '../private-file.ts';
import { SUPERUSER } from './create-cluster.ts';
import { clusterOptions } from './postmaster.ts';
import { programCommand, runsIn } from './programs.ts';

/** Name of the database of a single node. */
export const DATABASE = 'framelane';

/** The role of a node: it owns the database and is no superuser. The system of docker-compose.yml has the same one. */
const OWNER = 'control-plane';

/** Who can connect to a server: a node, as the owner of its only database, or tests, as a superuser who creates others. */
export type Access = 'node' | 'tests';

/** The role that connects. */
export const ROLES: Record<Access, string> = { node: OWNER, tests: SUPERUSER };

/** The whole of pg_hba.conf. The server rejects what it does not list: other roles and databases, and replication. */
const HOST_RULES: Record<Access, string> = {
  node: `host ${DATABASE} ${OWNER} 127.0.0.1/32 scram-sha-256\n`,
  tests: `host all all 127.0.0.1/32 scram-sha-256\n`,
};

/**
 * Prepares a cluster on which no server runs, unless it is prepared already: creates role and database, and writes pg_hba.conf last. A
 * cluster of an earlier version, whose services were superusers, becomes the owner's. Each step can run again after a kill.
 *
 * The superuser works in PostgreSQL's single-user mode, so that it needs neither a password nor a connection.
 */
export async function grantAccess(directory: string, access: Access, password: string): Promise<void> {
  const rules = join(directory, 'pg_hba.conf');
  if ((await readFile(rules, 'utf8')) === HOST_RULES[access]) return;
  if (access === 'tests') {
    await asSuperuser(directory, 'postgres', [setPassword(SUPERUSER, password)]);
  } else {
    // Fails if they exist. The next run shows whether they do.
    await asSuperuser(directory, 'postgres', [createOwner, createDatabase], { ignoreErrors: true });
    const takeAway = `alter role ${escapeIdentifier(SUPERUSER)} password null`;
    await asSuperuser(directory, DATABASE, [
      ...changeOwner,
      limitOwner,
      setPassword(OWNER, password),
      takeAway,
    ]);
  }
  await writePrivateFile(rules, HOST_RULES[access]);
}

const owner = escapeIdentifier(OWNER);
const database = escapeIdentifier(DATABASE);
const createOwner = `create role ${owner}`;
const limitOwner = `alter role ${owner} login nosuperuser nocreatedb nocreaterole noreplication nobypassrls`;
const createDatabase = `create database ${database} owner ${owner}`;

/**
 * Makes the role the owner of the database and of all that the superuser has created in it. Not `reassign owned`, which refuses to
 * change what the first superuser of a cluster owns. Extensions stay the superuser's, with their parts.
 */
const changeOwner = [
  `alter database ${database} owner to ${owner}`,
  // Names in the commands have their schema.
  'set search_path = pg_catalog',
  `do $$
  declare object text;
  begin
    for object in
      select format('%s %s', kind, name)
      from (
        select 'schema' as kind, oid::regnamespace::text as name, tableoid, oid, oid as schema, nspowner as owner
        from pg_namespace
        union all
        select case relkind when 'S' then 'sequence' else 'table' end, oid::regclass::text, tableoid, oid, relnamespace, relowner
        from pg_class where relkind in ('r', 'p', 'v', 'm', 'f', 'S')
        union all
        select 'type', oid::regtype::text, tableoid, oid, typnamespace, typowner
        from pg_type where typtype in ('d', 'e', 'r') or typrelid in (select oid from pg_class where relkind = 'c')
        union all
        select 'routine', oid::regprocedure::text, tableoid, oid, pronamespace, proowner from pg_proc
      ) as created
      where owner = '${SUPERUSER}'::regrole
        and schema not in (select oid from pg_namespace where nspname ~ '^pg_' or nspname = 'information_schema')
        -- Parts of extensions and types, and sequences of columns, which follow their table.
        and not exists (
          select from pg_depend d
          where d.classid = created.tableoid and d.objid = created.oid
            and (d.deptype in ('e', 'i') or (d.deptype = 'a' and kind = 'sequence')))
    loop
      execute format('alter %s owner to %I', object, '${OWNER}');
    end loop;
  end $$`,
];

function setPassword(role: string, password: string): string {
  return `alter role ${escapeIdentifier(role)} password ${escapeLiteral(password)}`;
}

/** Runs statements as the superuser in single-user mode. Rejects with what PostgreSQL logs if one fails. */
async function asSuperuser(
  directory: string,
  name: string,
  statements: readonly string[],
  { ignoreErrors = false } = {},
): Promise<void> {
  const { uid, gid } = await stat(directory);
  const [command, ...args] = await programCommand('postgres', { uid, gid });
  // The log must not contain statements, because one has the password.
  const settings = ['log_min_error_statement=panic', `exit_on_error=${ignoreErrors ? 'off' : 'on'}`];
  const options = settings.flatMap((setting) => ['-c', setting]);
  const running = promisify(execFile)(
    command,
    [...args, '--single', ...clusterOptions(directory), '-j', ...options, name],
    runsIn(directory),
  );
  // An early exit of PostgreSQL breaks the pipe. `running` rejects then.
  running.child.stdin?.on('error', () => {});
  // With -j, a semicolon and an empty line end a statement.
  running.child.stdin?.end(statements.map((statement) => `${statement};\n\n`).join(''));
  await running;
}
