import { Problem } from '@framelane/service-kit/problem';
import type { RequestHandler } from 'express';
import { credentialOf } from '../auth/authentication.ts';
import type { SystemService } from './system.service.ts';

export function systemRoutes(system: SystemService): Record<'getSystem', RequestHandler> {
  return {
    getSystem: async (req, res) => {
      const credential = credentialOf(req);
      if (credential.kind !== 'session' || !credential.administrator) {
        throw new Problem(
          'insufficient_permissions',
          "This session is not an administrator's. Create a sign-in link with --administrator.",
        );
      }
      res.json(await system.read());
    },
  };
}
