import type { components } from '@framelane/openapi/types';
import type { RequestHandler } from 'express';
import { apiKeyOf } from '../auth/authentication.ts';
import type { Idempotent } from '../idempotency/idempotent.ts';
import type { VideoRecord } from '../videos/video-record.ts';
import { filenameOf, readImportSource } from './import-request.ts';
import type { ImportsService } from './imports.service.ts';

export function importRoutes(
  imports: ImportsService,
  baseUrl: string,
  idempotent: Idempotent,
): Record<'importVideo', RequestHandler> {
  return {
    importVideo: idempotent<VideoRecord>({
      prepare: async (req) => {
        const key = apiKeyOf(req);
        const body: components['schemas']['ImportRequest'] = req.body;
        const source = readImportSource(body.url, body.headers);
        return imports.create({
          workspaceId: key.workspace_id,
          environment: key.environment,
          source,
          filename: body.filename ?? filenameOf(source.url),
          title: body.title,
          metadata: body.metadata,
          tags: body.tags,
          passthrough: body.passthrough,
          playbackPolicy: body.playbackPolicy,
          keepSource: body.keepSource,
        });
      },
      response: (video) => ({ status: 202, location: `${baseUrl}/videos/${video.id}`, body: video }),
    }),
  };
}
