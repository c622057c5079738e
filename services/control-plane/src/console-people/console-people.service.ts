import type { WorkspaceGrant } from '../auth/rights.ts';
import type { PersonGrant } from '../console-sessions/console-sessions.service.ts';
import type { Database } from '../db/database.ts';
import type { ConsolePersonRow } from '../db/schema.ts';
import { deleteGrants, grantsOf, listGrants, replaceGrants } from './console-people.store.ts';

/** A person in one of their workspaces. */
type ListedGrant = PersonGrant & { email: string; addedAt: string };

/** Decides who may sign in by OpenID Connect, and for what (ADR 47). Emails are normalised. */
export class ConsolePeopleService {
  readonly #db: Database;

  constructor({ db }: { db: Database }) {
    this.#db = db;
  }

  /**
   * Adds a person, or replaces the grants of a person in these workspaces. `administrator` applies in all workspaces. Ends the
   * sessions of the person, so that the next session has the new grants.
   */
  add(person: { email: string; administrator: boolean }, grants: readonly WorkspaceGrant[]): Promise<void> {
    return replaceGrants(this.#db, person, grants);
  }

  /** All people by email, in each of their workspaces. */
  async list(): Promise<ListedGrant[]> {
    const rows = await listGrants(this.#db);
    return rows.map((row) => ({ email: row.email, ...toGrant(row), addedAt: row.created_at.toISOString() }));
  }

  /** The grants of a person, one for each of their workspaces. They cannot change until the transaction ends. */
  async grantsIn(trx: Database, email: string): Promise<PersonGrant[]> {
    return (await grantsOf(trx, email)).map(toGrant);
  }

  /**
   * Removes a person from all workspaces, or from the given ones, and ends their sessions there. Resolves with the workspaces that
   * they were removed from.
   */
  async remove(email: string, workspaceIds?: readonly string[]): Promise<string[]> {
    return deleteGrants(this.#db, email, workspaceIds);
  }
}

function toGrant({ workspace_id, environments, permissions, administrator }: ConsolePersonRow): PersonGrant {
  // The command line requires one.
  const [first = 'live', ...others] = environments;
  return { workspaceId: workspace_id, environments: [first, ...others], permissions, administrator };
}
