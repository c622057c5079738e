import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { escapeIdentifier, escapeLiteral } from 'pg';
import { writePrivateFile } from '../private-file.ts';
import { SUPERUSER } from './create-cluster.ts';
import { asSuperuser } from './single-user-mode.ts';

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
 * Prepares a cluster on which no server runs, unless it is prepared already: creates role and database, and writes pg_hba.conf last. Each
 * step can run again after a kill.
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
    await asSuperuser(directory, DATABASE, [
      limitOwner,
      setPassword(OWNER, password),
      `alter role ${escapeIdentifier(SUPERUSER)} password null`,
    ]);
  }
  await writePrivateFile(rules, HOST_RULES[access]);
}

const owner = escapeIdentifier(OWNER);
const database = escapeIdentifier(DATABASE);
const createOwner = `create role ${owner}`;
const limitOwner = `alter role ${owner} login nosuperuser nocreatedb nocreaterole noreplication nobypassrls`;
const createDatabase = `create database ${database} owner ${owner}`;

function setPassword(role: string, password: string): string {
  return `alter role ${escapeIdentifier(role)} password ${escapeLiteral(password)}`;
}
