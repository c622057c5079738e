import type { Request } from 'express';
import { credentialOf } from '../auth/authentication.ts';
import type { SessionCookie } from '../auth/session-cookie.ts';
import type { Authenticate } from '../http/request-validation.ts';
import type { Viewer } from './playback-access.service.ts';

/** Reads the credentials of a playback request whose path has the workspace as `tenant`. */
export function viewerReader({
  authenticate,
  cookie,
}: {
  authenticate: Authenticate;
  cookie: SessionCookie;
}) {
  return (req: Request): Viewer => ({
    token: req.query.token,
    workspaceOfCredential:
      req.get('authorization') === undefined && cookie.tokenOf(req) === undefined
        ? undefined
        : async () => {
            await authenticate(req, ['videos:read'], { workspaceId: String(req.params.tenant) });
            return credentialOf(req).workspace_id;
          },
  });
}
