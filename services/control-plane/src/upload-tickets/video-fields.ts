import { PACKAGING_OF_ALTERNATIVES, type PackagingName } from '@framelane/contracts/packaging';
import type { AlternativeCodec } from '@framelane/contracts/renditions';
import type { components } from '@framelane/openapi/types';
import { invalidField } from '@framelane/service-kit/problem';
import type { Request } from 'express';
import { credentialOf } from '../auth/authentication.ts';
import type { Environment } from '../db/schema.ts';
import { alternativesIn } from '../videos/codecs-setting.ts';
import { requestedTrim } from './requested-trim.ts';

type TicketBody = components['schemas']['UploadTicketRequest'];
type ImportBody = components['schemas']['ImportRequest'];

/** The fields of a new video that its request sets, for a ticket or for an import. */
export type VideoFields = Omit<
  TicketBody,
  'filename' | 'size' | 'expiresIn' | 'watermark' | 'trim' | 'codecs'
> & {
  watermark?: Required<components['schemas']['WatermarkRequest']>;
  trim?: components['schemas']['Trim'];
  /** Beside H.264; absent for those of the installation. */
  codecs?: readonly AlternativeCodec[];
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
    codecs: named,
    ...own
  }: Partial<TicketBody & ImportBody> = req.body;
  const codecs = alternativesIn(named ?? []);
  if (own.audioOnly) requireSoundAlone(own, { watermark, codecs });
  return {
    ...own,
    ...(codecs.length > 0 && { packaging: packagingOfAlternatives(own.packaging) }),
    ...(named && { codecs }),
    workspaceId,
    environment,
    ...(watermark && { watermark: watermark as Required<typeof watermark> }),
    ...(trim && { trim: requestedTrim(trim) }),
  };
}

/** Throws 400 `validation_failed` for what sound alone cannot have. */
function requireSoundAlone(
  { downloads = [] }: Partial<TicketBody>,
  {
    watermark,
    codecs,
  }: { watermark: TicketBody['watermark'] | undefined; codecs: readonly AlternativeCodec[] },
): void {
  if (codecs.length > 0) {
    throw invalidField('body/codecs', 'codecs', 'must be absent with audioOnly: sound has no picture');
  }
  if (watermark) {
    throw invalidField('body/watermark', 'watermark', 'must be absent with audioOnly: sound has no picture');
  }
  if (downloads.some((name) => name !== 'audio')) {
    throw invalidField('body/downloads', 'downloads', 'must be audio with audioOnly: sound has no picture');
  }
}

/** The packaging of a video with codecs beside H.264. Throws 400 `validation_failed` if the request wants another. */
function packagingOfAlternatives(requested: TicketBody['packaging']): PackagingName {
  if (requested === undefined || requested === PACKAGING_OF_ALTERNATIVES) return PACKAGING_OF_ALTERNATIVES;
  const message = `must be ${PACKAGING_OF_ALTERNATIVES} or absent with these codecs: Framelane packs them in no other way`;
  throw invalidField('body/packaging', 'packaging', message);
}
