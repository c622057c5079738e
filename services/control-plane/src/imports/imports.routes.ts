import type { AddressGuard } from '@framelane/address-guard/address-guard';
import type { components } from '@framelane/openapi/types';
import type { Handlers } from '../http/contract.ts';
import type { Idempotent } from '../idempotency/idempotent.ts';
import { readVideoFields } from '../upload-tickets/video-fields.ts';
import type { VideoRecord } from '../videos/video-record.ts';
import { filenameOf, readImportSource } from './import-request.ts';
import type { ImportsService } from './imports.service.ts';

export function importRoutes(
  imports: ImportsService,
  guard: AddressGuard,
  baseUrl: string,
  idempotent: Idempotent,
) {
  return {
    importVideo: idempotent<VideoRecord>({
      prepare: async (req) => {
        const body: components['schemas']['ImportRequest'] = req.body;
        const source = readImportSource(guard, body.url, body.headers);
        const filename = body.filename ?? filenameOf(source.url);
        return imports.create({ ...readVideoFields(req), source, filename });
      },
      response: (video) => ({ status: 202, location: `${baseUrl}/videos/${video.id}`, body: video }),
    }),
  } satisfies Handlers;
}
