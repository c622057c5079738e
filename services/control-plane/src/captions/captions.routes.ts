import { promisify } from 'node:util';
import { MAX_CAPTIONS_BYTES } from '@framelane/captions/captions';
import { Problem } from '@framelane/service-kit/problem';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { credentialOf } from '../auth/authentication.ts';
import type { CaptionsAddress, CaptionsService } from './captions.service.ts';

type Operation = 'listCaptions' | 'getCaptions' | 'setCaptions' | 'updateCaptions' | 'deleteCaptions';

export function captionsRoutes(captions: CaptionsService): Record<Operation, RequestHandler> {
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
        file: await readBody(req, res),
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
  };
}

function addressOf(req: Request): CaptionsAddress {
  return {
    workspaceId: credentialOf(req).workspace_id,
    videoId: String(req.params.id),
    language: String(req.params.language),
  };
}

const parseBody = promisify(express.raw({ type: () => true, limit: MAX_CAPTIONS_BYTES }));

/** Reads the body only now, when the key has been checked. Throws 413 `body_too_large`. */
async function readBody(req: Request, res: Response): Promise<Buffer> {
  try {
    await parseBody(req, res);
  } catch (error) {
    if ((error as { type?: unknown }).type !== 'entity.too.large') throw error;
    throw new Problem('body_too_large', 'The captions are too large. Send at most 2 MiB.', {
      closeConnection: true,
    });
  }
  return Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0);
}
