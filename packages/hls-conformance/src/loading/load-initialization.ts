import { createDecipheriv } from 'node:crypto';
import { type Initialization, readInitialization } from '../media/mp4/initialization.ts';
import type { MapTag } from '../playlists/media-playlist.ts';
import type { LoadedInitialization, LoadedResponse } from '../presentation.ts';
import { fetchSmall } from './fetching.ts';
import type { HttpClient } from './http-client.ts';
import type { SegmentKey } from './load-segment.ts';

/** It has parameter sets and no media. */
const LIMIT = 1024 ** 2;

/** An initialization section: what the segments need of it, or null if it cannot be used; and what the rules need. */
export type InitializationResult = {
  initialization: Initialization | null;
  loaded: LoadedInitialization;
  response: LoadedResponse;
};

/** Fetches, decrypts and parses an initialization section. Failures are part of the result. */
export async function loadInitialization(
  client: HttpClient,
  map: MapTag,
  key: SegmentKey,
): Promise<InitializationResult> {
  const { response, body } = await fetchSmall(client, 'initialization section', map.url, LIMIT);
  const failed = (violation: string): InitializationResult => ({
    initialization: null,
    loaded: { url: map.url, violations: [violation] },
    response,
  });
  if (body === null) return failed('could not be fetched');
  try {
    const initialization = readInitialization(key === null ? body : decrypt(body, map, key));
    return { initialization, loaded: { url: map.url, violations: initialization.violations }, response };
  } catch (error) {
    return failed(`cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Throws if it cannot be decrypted. It has no media sequence number, so the key needs an IV (RFC 8216 §4.3.2.5). */
function decrypt(body: Buffer, { key: tag }: MapTag, key: NonNullable<SegmentKey>): Buffer {
  if ('violation' in key) throw new Error(key.violation);
  const vector = tag?.vector ?? null;
  if (vector === null) throw new Error('it is encrypted, but the EXT-X-KEY before it has no IV');
  const decipher = createDecipheriv('aes-128-cbc', key.bytes, vector);
  return Buffer.concat([decipher.update(body), decipher.final()]);
}
