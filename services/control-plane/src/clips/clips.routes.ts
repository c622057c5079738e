import type { components } from '@framelane/openapi/types';
import { credentialOf } from '../auth/authentication.ts';
import type { Handlers } from '../http/contract.ts';
import type { Idempotent } from '../idempotency/idempotent.ts';
import type { VideoRecord } from '../videos/video-record.ts';
import type { ClipsService } from './clips.service.ts';

export function clipRoutes(clips: ClipsService, baseUrl: string, idempotent: Idempotent) {
  return {
    createClip: idempotent<VideoRecord>({
      prepare: async (req) => {
        const body: components['schemas']['ClipRequest'] = req.body;
        const { workspace_id: workspaceId, environment } = credentialOf(req);
        return clips.create({ workspaceId, environment }, String(req.params.id), body);
      },
      response: (video) => ({ status: 202, location: `${baseUrl}/videos/${video.id}`, body: video }),
      committed: () => clips.createCommitted(),
    }),
  } satisfies Handlers;
}
