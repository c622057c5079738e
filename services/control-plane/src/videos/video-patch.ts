import type { components } from '@framelane/openapi/types';
import { invalidField } from '@framelane/service-kit/problem';
import type { Metadata } from '../db/schema.ts';
import type { OwnFields } from './video-columns.store.ts';

/** The changes that a client requests. */
export type VideoPatch = components['schemas']['VideoPatch'];

/** Pairs after the change; the contract limits only the pairs of a request. */
const MAX_METADATA = 50;

/**
 * The changes that a patch makes to a video (RFC 7396: an absent field stays, null removes it). Throws 400
 * `validation_failed` when the metadata would have too many pairs.
 */
export function changesOf(
  current: { metadata: Metadata },
  { metadata, tags, ...others }: VideoPatch,
): Partial<OwnFields> {
  return {
    ...others,
    ...(metadata !== undefined && { metadata: mergeMetadata(current.metadata, metadata) }),
    ...(tags !== undefined && { tags: tags ?? [] }),
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
