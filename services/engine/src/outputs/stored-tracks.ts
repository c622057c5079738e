import { createWriteStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { ClaimedClip, StoredTrack } from '@framelane/contracts/internal-api';
import { segmentKeyBelow } from '@framelane/object-store/object-keys';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { RENDITION_DECODERS } from '../encoders/encoders.ts';
import { PACKAGER } from '../packagers/packagers.ts';
import { segmentDecipher } from './segment-encryption.ts';
import { withStorageRetries } from './storage-retries.ts';

/** The options of ffmpeg for an input of decrypted segments: they are read, and nothing else. */
export const READ_SEGMENTS = [
  ...['-protocol_whitelist', 'file', '-format_whitelist', PACKAGER.demuxer],
  ...['-codec_whitelist', RENDITION_DECODERS.join(',')],
];

/** A stored rendition, and where its segments are. */
export type StoredSegments = Pick<ClaimedClip['parent']['tracks'][number], 'name' | 'places'>;

/** A decrypted segment of a stored rendition. Throws a TranscodeFailure if the object store fails. */
export async function fetchSegment(
  stored: StoredSegments,
  sequence: number,
  { objects, contentKey, signal }: { objects: ObjectStore; contentKey: Uint8Array; signal: AbortSignal },
): Promise<Buffer> {
  return withStorageRetries(async () => {
    const { body } = await objects.get(keyOfSegment(stored, sequence));
    const decrypted = pipeline(body, segmentDecipher(contentKey, sequence), buffer, { signal });
    return decrypted as Promise<Buffer>;
  }, signal);
}

/** Where a stored segment is: below the last place that begins before it. */
export function keyOfSegment({ name, places }: StoredSegments, sequence: number): string {
  const place = places.findLast(({ firstSegment }) => firstSegment <= sequence);
  if (place === undefined) throw new Error(`Segment ${sequence} of ${name} has no place`);
  return segmentKeyBelow(place.prefix, name, sequence);
}

/** Bytes of all segments of stored renditions. */
export function bytesOf(tracks: readonly StoredTrack[]): number {
  return tracks.reduce((sum, { segmentBytes }) => sum + segmentBytes.reduce((a, b) => a + b, 0), 0);
}

/**
 * Writes the decrypted segments of a stored rendition one after the other to a file. Reports the bytes of each segment when it is written.
 * Throws a TranscodeFailure if the object store fails.
 */
export async function fetchTrack(
  track: StoredTrack,
  path: string,
  options: {
    objects: ObjectStore;
    contentKey: Uint8Array;
    signal: AbortSignal;
    onFetched: (bytes: number) => void;
  },
): Promise<void> {
  const { objects, contentKey, signal, onFetched } = options;
  let written = 0;
  for (const [at, bytes] of track.segmentBytes.entries()) {
    const sequence = track.firstSegment + at;
    const key = keyOfSegment(track, sequence);
    await withStorageRetries(async () => {
      const { body } = await objects.get(key);
      // A repeated request replaces what the failed one has written.
      const file = createWriteStream(path, { flags: at === 0 ? 'w' : 'r+', start: written });
      await pipeline(body, segmentDecipher(contentKey, sequence), file, { signal });
      written += file.bytesWritten;
    }, signal);
    onFetched(bytes);
  }
}
