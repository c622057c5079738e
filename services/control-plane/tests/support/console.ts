import { createLogger } from '@framelane/service-kit/logger';
import request from 'supertest';
import { PERMISSIONS } from '../../src/api-keys/permissions.ts';
import {
  ConsoleSessionsService,
  type LinkRequest,
} from '../../src/console-sessions/console-sessions.service.ts';
import type { Environment, Permission } from '../../src/db/schema.ts';
import type { TestControlPlane } from './control-plane.ts';

/** The origin of the console of a test control plane. */
export const CONSOLE_ORIGIN = 'http://framelane.test';

/** A console session as a browser uses it. */
export type ConsoleSession = {
  id: string;
  /** The token in the cookie. */
  token: string;
  /** Headers of every request, with those that only writes need. */
  headers: Record<string, string>;
};

type Plane = Pick<TestControlPlane, 'db' | 'url' | 'workspaceId'>;

/**
 * How a sign-in link differs from the default: named Test, no administrator, every permission in the live environment of the workspace.
 * `grants` replaces `environment` and `permissions`.
 */
type LinkChanges = Partial<LinkRequest> & { environment?: Environment; permissions?: readonly Permission[] };

/** Creates the code of a sign-in link. */
export async function createCode(
  { db, workspaceId }: Plane,
  { environment = 'live', permissions = PERMISSIONS, ...changes }: LinkChanges = {},
): Promise<string> {
  const sessions = new ConsoleSessionsService({
    db,
    logger: createLogger({ service: 'test', level: 'silent' }),
    publicUrl: CONSOLE_ORIGIN,
  });
  const grants = [{ workspaceId, environments: [environment], permissions }] as const;
  const request = { name: 'Test', administrator: false, grants, ...changes };
  return (await sessions.createLink(request)).url.replace(/^.*#code=/, '');
}

/** Signs in to the console. */
export async function signIn(plane: Plane, changes: LinkChanges = {}): Promise<ConsoleSession> {
  const code = await createCode(plane, changes);
  const response = await request(plane.url)
    .post('/v1/console/sessions')
    .set({ origin: CONSOLE_ORIGIN })
    .send({ code });
  if (response.status !== 201) throw new Error(`Not signed in: ${response.text}`);
  const token = /^framelane=(\w+)/.exec(String(response.headers['set-cookie']))?.[1] ?? '';
  const { id, csrfToken } = response.body;
  return {
    id,
    token,
    headers: { cookie: `framelane=${token}`, origin: CONSOLE_ORIGIN, 'x-framelane-csrf': csrfToken },
  };
}
