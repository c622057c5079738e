import type { components } from '@framelane/openapi/types';
import type { Request } from 'express';
import { credentialOf } from '../auth/authentication.ts';
import type { Environment } from '../db/schema.ts';

type TicketBody = components['schemas']['UploadTicketRequest'];
type ImportBody = components['schemas']['ImportRequest'];

/** The fields of a new video that its request sets, for a ticket or for an import. */
export type VideoFields = Omit<TicketBody, 'filename' | 'size' | 'expiresIn'> & {
  workspaceId: string;
  environment: Environment;
};

/** Reads these fields from a validated request. */
export function readVideoFields(req: Request): VideoFields {
  const { workspace_id: workspaceId, environment } = credentialOf(req);
  const { filename, size, expiresIn, url, headers, ...own }: Partial<TicketBody & ImportBody> = req.body;
  return { ...own, workspaceId, environment };
}
