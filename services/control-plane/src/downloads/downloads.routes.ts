import type { DownloadName } from '@framelane/contracts/outputs/download';
import type { components } from '@framelane/openapi/types';
import type { Request, RequestHandler } from 'express';
import { credentialOf } from '../auth/authentication.ts';
import type { Handlers } from '../http/contract.ts';
import type { Idempotent } from '../idempotency/idempotent.ts';
import type { PlaybackAccessService, Viewer } from '../playback/playback-access.service.ts';
import { sendStored } from '../stored-files/send-stored.ts';
import type { DownloadsService } from './downloads.service.ts';

type Download = components['schemas']['Download'];

export function downloadRoutes({
  downloads,
  access,
  viewerOf,
  idempotent,
}: {
  downloads: DownloadsService;
  access: PlaybackAccessService;
  viewerOf: (req: Request) => Viewer;
  idempotent: Idempotent;
}) {
  const sendFile =
    (nameOf: (req: Request) => DownloadName): RequestHandler =>
    async (req, res) => {
      const { tenant, video } = req.params as { tenant: string; video: string };
      await access.admit(tenant, video, viewerOf(req), { isDownload: true });
      const { file, headers } = await downloads.file(tenant, video, nameOf(req));
      await sendStored(req, res, file, headers, 'no-store');
    };

  return {
    listDownloads: async (req, res) => {
      res.json({ data: await downloads.list(credentialOf(req).workspace_id, String(req.params.id)) });
    },

    createDownloads: idempotent<Download[]>({
      prepare: async (req) => {
        const { files }: components['schemas']['DownloadsRequest'] = req.body;
        return downloads.prepare(credentialOf(req).workspace_id, String(req.params.id), files);
      },
      response: (data) => ({ status: 202, body: { data } }),
      committed: () => downloads.prepareCommitted(),
    }),

    deleteDownload: async (req, res) => {
      const { id, file } = req.params as { id: string; file: DownloadName };
      await downloads.delete(credentialOf(req).workspace_id, id, file);
      res.status(204).end();
    },

    getVideoDownload: sendFile((req) => req.params.file as DownloadName),
    getAudioDownload: sendFile(() => 'audio'),
  } satisfies Handlers;
}
