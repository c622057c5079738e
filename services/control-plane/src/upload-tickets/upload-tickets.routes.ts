import type { components } from '@framelane/openapi/types';
import type { RequestHandler } from 'express';
import { apiKeyOf } from '../auth/authentication.ts';
import type { UploadTicketsService } from './upload-tickets.service.ts';

export function uploadTicketRoutes(
  tickets: UploadTicketsService,
  addresses: { baseUrl: string; engineUrl: string },
): Record<'createUploadTicket', RequestHandler> {
  return {
    createUploadTicket: async (req, res) => {
      const key = apiKeyOf(req);
      const body: components['schemas']['UploadTicketRequest'] = req.body;
      const ticket = await tickets.issue({
        workspaceId: key.workspace_id,
        environment: key.environment,
        filename: body.filename,
        title: body.title,
        metadata: body.metadata,
        tags: body.tags,
        passthrough: body.passthrough,
        playbackPolicy: body.playbackPolicy,
        size: body.size,
        expiresInSeconds: body.expiresIn,
      });
      const answer: components['schemas']['UploadTicket'] = {
        videoId: ticket.videoId,
        uploadUrl: `${addresses.engineUrl}/upload`,
        uploadToken: ticket.uploadToken,
        expiresAt: ticket.expiresAt.toISOString(),
        maxBytes: ticket.maxBytes,
      };
      res.status(201).location(`${addresses.baseUrl}/videos/${ticket.videoId}`).json(answer);
    },
  };
}
