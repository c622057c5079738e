import { MAX_CAPTIONS_BYTES } from '@framelane/captions/captions';
import type { Request } from 'express';
import { credentialOf } from '../auth/authentication.ts';
import type { Handlers } from '../http/contract.ts';
import { readFileBody } from '../http/file-body.ts';
import type { CaptionsAddress, CaptionsService } from './captions.service.ts';

export function captionsRoutes(captions: CaptionsService) {
  return {
    listCaptions: async (req, res) => {
      res.json({ data: await captions.list(credentialOf(req).workspace_id, String(req.params.id)) });
    },

    getCaptions: async (req, res) => {
      res.type('text/vtt').send(await captions.get(addressOf(req)));
    },

    setCaptions: async (req, res) => {
      const { label, default: isDefault } = req.query;
      const { created, record } = await captions.set(addressOf(req), {
        file: await readFileBody(req, res, { name: 'captions', maxBytes: MAX_CAPTIONS_BYTES }),
        format: req.is('text/vtt') ? 'webvtt' : 'subrip',
        label: label === undefined ? undefined : String(label),
        isDefault: String(isDefault) === 'true',
      });
      res.status(created ? 201 : 200).json(record);
    },

    updateCaptions: async (req, res) => {
      res.json(await captions.update(addressOf(req), req.body));
    },

    deleteCaptions: async (req, res) => {
      await captions.delete(addressOf(req));
      res.status(204).end();
    },
  } satisfies Handlers;
}

function addressOf(req: Request): CaptionsAddress {
  return {
    workspaceId: credentialOf(req).workspace_id,
    videoId: String(req.params.id),
    language: String(req.params.language),
  };
}
