import { Problem } from '@framelane/service-kit/problem';
import { credentialOf } from '../auth/authentication.ts';
import type { Handlers } from '../http/contract.ts';
import type { SystemService } from './system.service.ts';

export function systemRoutes(system: SystemService) {
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
  } satisfies Handlers;
}
