import { credentialOf } from '../auth/authentication.ts';
import type { Handlers } from '../http/contract.ts';
import { sendStored } from '../stored-files/send-stored.ts';
import type { SourcesService } from './sources.service.ts';

export function sourceRoutes(sources: SourcesService) {
  return {
    getVideoSource: async (req, res) => {
      const { file, headers } = await sources.find(credentialOf(req).workspace_id, String(req.params.id));
      await sendStored(req, res, file, headers, headers['Cache-Control']);
    },

    deleteVideoSource: async (req, res) => {
      await sources.delete(credentialOf(req).workspace_id, String(req.params.id));
      res.status(204).end();
    },
  } satisfies Handlers;
}
