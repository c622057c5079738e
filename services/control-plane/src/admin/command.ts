import type { WorkspacesService } from '../account/workspaces.service.ts';
import type { ApiKeysService } from '../api-keys/api-keys.service.ts';

/** What a command works with. */
export type AdminServices = { workspaces: WorkspacesService; keys: ApiKeysService };

/** Runs the work of a command and prints the result: described as text, or as JSON. */
export type RunCommand = <T>(
  options: { json?: boolean },
  work: (services: AdminServices) => Promise<T>,
  describe: (result: T) => string,
) => Promise<void>;

/** An error the administrator can correct; the message says how. */
export class AdminError extends Error {
  override name = 'AdminError';
}
