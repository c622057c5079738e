import type { components } from '@framelane/openapi/types';
import { credentialOf } from '../auth/authentication.ts';
import type { Handlers } from '../http/contract.ts';
import type { WithDefaults } from '../http/request-validation.ts';
import type { Idempotent } from '../idempotency/idempotent.ts';
import type { Ticket, UploadTicketsService } from './upload-tickets.service.ts';
import { readVideoFields } from './video-fields.ts';

export function uploadTicketRoutes(
  tickets: UploadTicketsService,
  addresses: { baseUrl: string; engineUrl: string },
  idempotent: Idempotent,
) {
  return {
    createUploadTicket: idempotent<Ticket>({
      prepare: async (req) => {
        const body: WithDefaults<components['schemas']['UploadTicketRequest'], 'expiresIn'> = req.body;
        return tickets.issue({
          ...readVideoFields(req),
          filename: body.filename,
          size: body.size,
          expiresInSeconds: body.expiresIn,
        });
      },
      response: (ticket) => {
        const body: components['schemas']['UploadTicket'] = {
          videoId: ticket.videoId,
          uploadUrl: `${addresses.engineUrl}/upload`,
          tusUrl: `${addresses.engineUrl}/files`,
          uploadToken: ticket.uploadToken,
          expiresAt: ticket.expiresAt.toISOString(),
          maxBytes: ticket.maxBytes,
        };
        return { status: 201, location: `${addresses.baseUrl}/videos/${ticket.videoId}`, body };
      },
      oneTime: ['uploadToken'],
      renew: async (req, { videoId }) => ({
        uploadToken: await tickets.replaceToken(credentialOf(req).workspace_id, String(videoId)),
      }),
    }),
  } satisfies Handlers;
}
