import { newId } from '@framelane/contracts/ids';
import type { Database } from '../db/database.ts';
import type { WorkspaceRow } from '../db/schema.ts';
import { insertWorkspace, listWorkspaces } from './workspaces.store.ts';

/** A workspace as its administrators see it. */
export type Workspace = { id: string; name: string; createdAt: string };

/** Makes and lists workspaces; for those who run the installation. */
export class WorkspacesService {
  readonly #db: Database;

  constructor({ db }: { db: Database }) {
    this.#db = db;
  }

  /** Makes a workspace, still without a key. */
  async create(name: string): Promise<Workspace> {
    return toWorkspace(await insertWorkspace(this.#db, { id: newId('ws'), name }));
  }

  /** Every workspace there is, the oldest first. */
  async list(): Promise<Workspace[]> {
    return (await listWorkspaces(this.#db)).map(toWorkspace);
  }
}

function toWorkspace(row: WorkspaceRow): Workspace {
  return { id: row.id, name: row.name, createdAt: row.created_at.toISOString() };
}
