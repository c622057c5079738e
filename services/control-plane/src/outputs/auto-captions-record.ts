import type { components } from '@framelane/openapi/types';
import type { AutoCaptionsRow, VideoRow } from '../db/schema.ts';
import { outputError } from './output-error.ts';

/** Captions by a machine as PostgreSQL builds them in JSON. */
export type StoredAutoCaptions = Pick<
  AutoCaptionsRow,
  'requested' | 'language' | 'status' | 'error_code' | 'error_message'
> & { created_at: string; ready_at: string | null };

/** Captions by a machine in the record of their video. */
export function toAutoCaptions(
  video: Pick<VideoRow, 'status'>,
  captions: StoredAutoCaptions,
): components['schemas']['AutoCaptions'] {
  const error = outputError(video, captions);
  return {
    requestedLanguage: captions.requested === '' ? null : captions.requested,
    language: captions.language,
    status: error === null ? captions.status : 'failed',
    error,
    createdAt: new Date(captions.created_at).toISOString(),
    readyAt: captions.ready_at === null ? null : new Date(captions.ready_at).toISOString(),
  };
}
