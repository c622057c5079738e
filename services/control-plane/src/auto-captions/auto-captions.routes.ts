import type { components } from '@framelane/openapi/types';
import { credentialOf } from '../auth/authentication.ts';
import type { Handlers } from '../http/contract.ts';
import type { Idempotent } from '../idempotency/idempotent.ts';
import type { AutoCaptionsService } from './auto-captions.service.ts';

export function autoCaptionsRoutes(autoCaptions: AutoCaptionsService, idempotent: Idempotent) {
  return {
    generateCaptions: idempotent<components['schemas']['AutoCaptions'][]>({
      prepare: async (req) => {
        const { autoCaptions: choice }: components['schemas']['AutoCaptionsRequest'] = req.body;
        return autoCaptions.generate(credentialOf(req).workspace_id, String(req.params.id), choice);
      },
      response: (data) => ({ status: 202, body: { data } }),
      committed: () => autoCaptions.generateCommitted(),
    }),
  } satisfies Handlers;
}
