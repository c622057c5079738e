import { isId, newId } from '@framelane/contracts/ids';
import { SettingsError } from '@framelane/service-kit/settings';
import { describeSecret, newApiKeySecret } from '../api-keys/api-key-secret.ts';
import { createFullKey } from '../api-keys/api-keys.service.ts';
import type { Database } from '../db/database.ts';
import type { WorkspaceRow } from '../db/schema.ts';
import {
  ensureWorkspace,
  firstWorkspace,
  insertWorkspace,
  listWorkspaces,
  lockFirstWorkspace,
} from './workspaces.store.ts';

/** A workspace as administrators see it. */
export type Workspace = { id: string; name: string; createdAt: string };

/** The first workspace, and the secret of its key if this call generated one: the secret is shown only now. */
export type Bootstrapped = { workspaceId: string; newApiKey: string | null };

/** Creates and lists workspaces, for administrators of the installation. */
export class WorkspacesService {
  readonly #db: Database;

  constructor({ db }: { db: Database }) {
    this.#db = db;
  }

  /** Creates a workspace without a key. */
  async create(name: string): Promise<Workspace> {
    return toWorkspace(await insertWorkspace(this.#db, { id: newId('ws'), name }));
  }

  /** Every workspace, the oldest first. */
  async list(): Promise<Workspace[]> {
    return (await listWorkspaces(this.#db)).map(toWorkspace);
  }

  /**
   * Creates the first workspace and key. A given id or key is created unless it exists. Without a given key, one is
   * generated if there is no workspace yet. Concurrent starts take turns. A repeat with the same `generated` values has the same result, so
   * that a lost response does not lose the secret. Throws a SettingsError when the id or the key has a wrong format.
   */
  async bootstrap(
    given: { workspaceId: string | undefined; apiKey: string | undefined },
    generated: { workspaceId: string; apiKey: string } = newWorkspace(),
  ): Promise<Bootstrapped> {
    if (given.workspaceId !== undefined && !isId('ws', given.workspaceId)) {
      throw new SettingsError('BOOTSTRAP_WORKSPACE_ID: must be ws_ followed by 26 characters of a TypeID');
    }
    if (given.apiKey !== undefined && describeSecret(given.apiKey) === null) {
      throw new SettingsError(
        'BOOTSTRAP_API_KEY: must be svc_live_ or svc_test_ followed by 16 or more letters and digits',
      );
    }
    return this.#db.transaction().execute(async (trx) => {
      await lockFirstWorkspace(trx);
      const existing = await firstWorkspace(trx);
      const workspaceId = given.workspaceId ?? existing?.id ?? generated.workspaceId;
      await ensureWorkspace(trx, { id: workspaceId, name: 'Default' });
      const isEarlier = existing !== undefined && existing.id !== generated.workspaceId;
      if (given.apiKey === undefined && isEarlier) return { workspaceId, newApiKey: null };
      const secret = given.apiKey ?? generated.apiKey;
      await createFullKey(trx, { workspaceId, name: 'First key', secret });
      return { workspaceId, newApiKey: given.apiKey === undefined ? secret : null };
    });
  }
}

/** The id and the key for a first workspace. */
export function newWorkspace(): { workspaceId: string; apiKey: string } {
  return { workspaceId: newId('ws'), apiKey: newApiKeySecret('live') };
}

function toWorkspace(row: WorkspaceRow): Workspace {
  return { id: row.id, name: row.name, createdAt: row.created_at.toISOString() };
}
