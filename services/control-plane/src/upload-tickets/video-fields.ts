import type { components } from '@framelane/openapi/types';
import { invalidField } from '@framelane/service-kit/problem';
import type { Request } from 'express';
import { credentialOf } from '../auth/authentication.ts';
import type { Environment } from '../db/schema.ts';
import { requestedTrim } from './requested-trim.ts';

type TicketBody = components['schemas']['UploadTicketRequest'];
type ImportBody = components['schemas']['ImportRequest'];

/** The fields of a new video that its request sets, for a ticket or for an import. */
export type VideoFields = Omit<TicketBody, 'filename' | 'size' | 'expiresIn' | 'watermark' | 'trim'> & {
  watermark?: Required<components['schemas']['WatermarkRequest']>;
  trim?: components['schemas']['Trim'];
  workspaceId: string;
  environment: Environment;
};

/** Reads these fields from a validated request, in which the validator has set defaults. Throws 400 `validation_failed`. */
export function readVideoFields(req: Request): VideoFields {
  const { workspace_id: workspaceId, environment } = credentialOf(req);
  const {
    filename,
    size,
    expiresIn,
    url,
    headers,
    watermark,
    trim,
    ...own
  }: Partial<TicketBody & ImportBody> = req.body;
  if (own.audioOnly) requireSoundAlone(own, watermark);
  return {
    ...own,
    workspaceId,
    environment,
    ...(watermark && { watermark: watermark as Required<typeof watermark> }),
    ...(trim && { trim: requestedTrim(trim) }),
  };
}

/** Throws 400 `validation_failed` for what sound alone cannot have. */
function requireSoundAlone(
  { downloads = [] }: Partial<TicketBody>,
  watermark: TicketBody['watermark'],
): void {
  if (watermark) {
    throw invalidField('body/watermark', 'watermark', 'must be absent with audioOnly: sound has no picture');
  }
  if (downloads.some((name) => name !== 'audio')) {
    throw invalidField('body/downloads', 'downloads', 'must be audio with audioOnly: sound has no picture');
  }
}
