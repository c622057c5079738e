import { createWriteStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { ClaimedClip, StoredTrack } from '@framelane/contracts/internal-api';
import type { PackagingName } from '@framelane/contracts/packaging';
import { segmentKeyBelow } from '@framelane/object-store/object-keys';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { RENDITION_DECODERS } from '../encoders/encoders.ts';
import { packagerOf } from '../packagers/packagers.ts';
import { outOfDiskSpace, refusal } from '../transcode-failure.ts';
import { readAhead } from './read-ahead.ts';
import { segmentDecipher } from './segment-encryption.ts';
import { isDiskFull, withStorageRetries } from './storage-retries.ts';

/** The options of ffmpeg for an input of decrypted segments: they are read, and nothing else. */
export function readSegments(packaging: PackagingName): string[] {
  return [
    ...['-protocol_whitelist', 'file', '-format_whitelist', packagerOf(packaging).demuxer],
    ...['-codec_whitelist', RENDITION_DECODERS.join(',')],
  ];
}

/** A stored rendition, and where its segments are. */
export type StoredSegments = Pick<ClaimedClip['parent']['tracks'][number], 'name' | 'places'>;

/** What reading stored segments needs. */
export type Reading = {
  objects: ObjectStore;
  packaging: PackagingName;
  contentKey: Uint8Array;
  signal: AbortSignal;
};

/** A decrypted segment of a stored rendition. Throws a TranscodeFailure if the object store fails or the segment is damaged. */
export async function fetchSegment(
  stored: StoredSegments,
  sequence: number,
  { objects, packaging, contentKey, signal }: Reading,
): Promise<Buffer> {
  const segment = await withStorageRetries(async () => {
    const { body } = await objects.get(keyOfSegment(stored, sequence, packaging));
    const decrypted = pipeline(body, segmentDecipher(contentKey, sequence), buffer, { signal });
    return decrypted as Promise<Buffer>;
  }, signal);
  if (packagerOf(packaging).isSegment(segment)) return segment;
  throw refusal(
    'internal_error',
    'A stored segment of the video is damaged. Upload the file again.',
    new Error(`Segment ${sequence} of ${stored.name} has another content`),
  );
}

/** Some decrypted segments, one after the other; the next ones are fetched meanwhile. Throws as `fetchSegment`. */
export function fetchSegments(
  stored: StoredSegments,
  segments: readonly { sequence: number; bytes: number }[],
  reading: Reading,
): AsyncGenerator<Buffer, void, undefined> {
  const fetch = ({ sequence }: { sequence: number }, signal: AbortSignal) =>
    fetchSegment(stored, sequence, { ...reading, signal });
  return readAhead(segments, fetch, reading.signal);
}

/** Where a stored segment is: below the last place that begins before it. */
export function keyOfSegment(
  { name, places }: StoredSegments,
  sequence: number,
  packaging: PackagingName,
): string {
  const place = places.findLast(({ firstSegment }) => firstSegment <= sequence);
  if (place === undefined) throw new Error(`Segment ${sequence} of ${name} has no place`);
  return segmentKeyBelow(place.prefix, name, sequence, packaging);
}

/** The initialization section of a stored rendition; null if its packaging has none. */
export function initializationOf({ initialization }: Pick<StoredTrack, 'initialization'>): Buffer | null {
  return initialization === undefined ? null : Buffer.from(initialization, 'base64');
}

/** The segments after the initialization section, if there is one: what ffmpeg reads. */
export async function* withInitialization(
  track: Pick<StoredTrack, 'initialization'>,
  segments: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  const initialization = initializationOf(track);
  if (initialization !== null) yield initialization;
  yield* segments;
}

/** Bytes of all segments of stored renditions. */
export function bytesOf(tracks: readonly StoredTrack[]): number {
  return tracks.reduce((sum, { segmentBytes }) => sum + segmentBytes.reduce((a, b) => a + b, 0), 0);
}

/** The segments of a stored rendition from one number up to another, with their encrypted sizes. */
export function segmentsOf(
  { firstSegment, segmentBytes }: Pick<StoredTrack, 'firstSegment' | 'segmentBytes'>,
  { first, end }: { first: number; end: number },
): { sequence: number; bytes: number }[] {
  const bytesOfSegment = (sequence: number) => segmentBytes[sequence - firstSegment] ?? 0;
  return Array.from({ length: Math.max(0, end - first) }, (_, at) => ({
    sequence: first + at,
    bytes: bytesOfSegment(first + at),
  }));
}

/**
 * Writes the decrypted segments of a stored rendition one after the other to a file, as ffmpeg reads them. Reports the bytes of each segment when it is written.
 * Throws a TranscodeFailure if the object store fails or the disk is full.
 */
export async function fetchTrack(
  track: StoredTrack,
  path: string,
  { onFetched, ...reading }: Reading & { onFetched: (bytes: number) => void },
): Promise<void> {
  const { firstSegment: first, segmentBytes } = track;
  const segments = segmentsOf(track, { first, end: first + segmentBytes.length });
  await writeSegments(
    path,
    withInitialization(track, reported(fetchSegments(track, segments, reading), segmentBytes, onFetched)),
    reading,
  );
}

/** Writes decrypted segments to a file. Throws a TranscodeFailure if they cannot be fetched or the disk is full. */
export async function writeSegments(
  path: string,
  segments: AsyncIterable<Buffer>,
  { signal }: Pick<Reading, 'signal'>,
): Promise<void> {
  try {
    await pipeline(segments, createWriteStream(path), { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw isDiskFull(error) ? outOfDiskSpace(error) : error;
  }
}

/** Reports the size of each segment when the next one is asked for, and of the last one. */
async function* reported(
  segments: AsyncIterable<Buffer>,
  sizes: readonly number[],
  onFetched: (bytes: number) => void,
): AsyncGenerator<Buffer, void, undefined> {
  let at = 0;
  for await (const segment of segments) {
    yield segment;
    onFetched(sizes[at] ?? 0);
    at += 1;
  }
}
