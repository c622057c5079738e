import { isId, newId } from '@framelane/contracts/ids';
import { SettingsError } from '@framelane/service-kit/settings';
import { describeSecret, newApiKeySecret } from '../api-keys/api-key-secret.ts';
import { createFullKey } from '../api-keys/api-keys.service.ts';
import type { Database } from '../db/database.ts';
import { ensureWorkspace, firstWorkspace } from './workspaces.store.ts';

/** The first workspace, and the secret of its key if this call made one up: the only moment it is known. */
export type Bootstrapped = { workspaceId: string; newApiKey: string | null };

/**
 * Makes the first workspace and key. Given ones are made as given, once; without them both are made up when there is
 * no workspace yet. Throws a SettingsError for values that cannot be an id or a key.
 */
export async function bootstrap(
  db: Database,
  given: { workspaceId: string | undefined; apiKey: string | undefined },
): Promise<Bootstrapped> {
  if (given.workspaceId !== undefined && !isId('ws', given.workspaceId)) {
    throw new SettingsError('BOOTSTRAP_WORKSPACE_ID: must be ws_ followed by 26 characters of a TypeID');
  }
  if (given.apiKey !== undefined && describeSecret(given.apiKey) === null) {
    throw new SettingsError(
      'BOOTSTRAP_API_KEY: must be svc_live_ or svc_test_ followed by 16 or more letters and digits',
    );
  }
  return db.transaction().execute(async (trx) => {
    const existing = await firstWorkspace(trx);
    const workspaceId = given.workspaceId ?? existing?.id ?? newId('ws');
    await ensureWorkspace(trx, { id: workspaceId, name: 'Default' });
    if (given.apiKey === undefined && existing !== undefined) return { workspaceId, newApiKey: null };
    const secret = given.apiKey ?? newApiKeySecret('live');
    await createFullKey(trx, { workspaceId, name: 'First key', secret });
    return { workspaceId, newApiKey: given.apiKey === undefined ? secret : null };
  });
}
