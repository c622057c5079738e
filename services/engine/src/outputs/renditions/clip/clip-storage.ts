import { Readable } from 'node:stream';
import type { StoredRendition } from '@framelane/contracts/outputs/renditions';
import type { RenditionName } from '@framelane/contracts/renditions';
import { segmentKeyBelow } from '@framelane/object-store/object-keys';
import { PACKAGER } from '../../../packagers/packagers.ts';
import { encryptSegment } from '../../segment-encryption.ts';
import { withStorageRetries } from '../../storage-retries.ts';
import type { RunContext, TaskOutput } from '../../stored-run.ts';

/** A stored segment, as results have it. */
export type Stored = StoredRendition['segments'][number];

/** Segments that are fetched, encrypted and stored at the same time. Each is in memory as a whole. */
const AT_ONCE = 4;

/** Encrypts a segment with the key of the clip, and stores it. */
export async function storeSegment(
  { contentKey, prefix }: TaskOutput,
  { name, sequence, segment }: { name: RenditionName; sequence: number; segment: Buffer },
  { objects, signal }: Pick<RunContext, 'objects' | 'signal'>,
): Promise<Stored> {
  const key = segmentKeyBelow(prefix, name, sequence);
  const options = { contentType: PACKAGER.contentType, signal };
  const { bytes } = await withStorageRetries(() => {
    const ciphertext = encryptSegment(Readable.from([segment]), contentKey, sequence);
    return objects.putStream(key, ciphertext, options);
  }, signal);
  return { start: PACKAGER.startOf(segment), bytes };
}

/** Runs `work` for some items at a time. Resolves with its results in the order of the items. */
export function inParallel<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
  signal: AbortSignal,
): Promise<R[]> {
  return Readable.from(items).map(work, { concurrency: AT_ONCE, signal }).toArray({ signal });
}

/** The numbers from the first one up to, but without, the last one. */
export function range(first: number, end: number): number[] {
  return Array.from({ length: Math.max(0, end - first) }, (_, at) => first + at);
}
