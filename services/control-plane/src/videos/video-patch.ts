import type { components } from '@framelane/openapi/types';
import { invalidField } from '@framelane/service-kit/problem';
import type { UpdateObject } from 'kysely';
import type { Metadata, Schema } from '../db/schema.ts';

/** What a client wants changed. */
export type VideoPatch = components['schemas']['VideoPatch'];

/** The contract limits what is sent; what was there before comes on top. */
const MAX_METADATA = 50;

/**
 * The columns a patch changes (RFC 7396: what is left out stays, null removes). Throws 400 `validation_failed` when there
 * would be too many pairs of metadata.
 */
export function patchedColumns(
  current: { metadata: Metadata },
  { title, metadata, tags, passthrough, playbackPolicy }: VideoPatch,
): UpdateObject<Schema, 'videos'> {
  return {
    ...(title !== undefined && { title }),
    ...(metadata !== undefined && { metadata: JSON.stringify(mergeMetadata(current.metadata, metadata)) }),
    ...(tags !== undefined && { tags: tags ?? [] }),
    ...(passthrough !== undefined && { passthrough }),
    ...(playbackPolicy !== undefined && { playback_policy: playbackPolicy }),
  };
}

function mergeMetadata(current: Metadata, patch: Record<string, string | null> | null): Metadata {
  if (patch === null) return {};
  const pairs = Object.entries({ ...current, ...patch }).filter(
    (pair): pair is [string, string] => pair[1] !== null,
  );
  if (pairs.length > MAX_METADATA) {
    throw invalidField('body/metadata', 'maxProperties', `would have more than ${MAX_METADATA} pairs`);
  }
  return Object.fromEntries(pairs);
}
