import type { components } from '@framelane/openapi/types';
import type { RequestHandler } from 'express';
import { apiKeyOf } from '../auth/authentication.ts';
import type { WithDefaults } from '../http/with-defaults.ts';
import type { AtMostOnce } from '../idempotency/at-most-once.ts';
import type { Ticket, UploadTicketsService } from './upload-tickets.service.ts';

export function uploadTicketRoutes(
  tickets: UploadTicketsService,
  addresses: { baseUrl: string; engineUrl: string },
  atMostOnce: AtMostOnce,
): Record<'createUploadTicket', RequestHandler> {
  return {
    createUploadTicket: atMostOnce<Ticket>({
      perform: (req, noteOutcome) => {
        const key = apiKeyOf(req);
        const body: WithDefaults<components['schemas']['UploadTicketRequest'], 'expiresIn'> = req.body;
        const wanted = {
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
        };
        return tickets.issue(wanted, noteOutcome);
      },
      answer: (ticket) => {
        const body: components['schemas']['UploadTicket'] = {
          videoId: ticket.videoId,
          uploadUrl: `${addresses.engineUrl}/upload`,
          uploadToken: ticket.uploadToken,
          expiresAt: ticket.expiresAt.toISOString(),
          maxBytes: ticket.maxBytes,
        };
        return { status: 201, location: `${addresses.baseUrl}/videos/${ticket.videoId}`, body };
      },
      oneTime: ['uploadToken'],
      renew: async (req, { videoId }) => ({
        uploadToken: await tickets.replaceToken(apiKeyOf(req).workspace_id, String(videoId)),
      }),
    }),
  };
}
