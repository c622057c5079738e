import { Readable } from 'node:stream';
import type { StoredRendition } from '@framelane/contracts/outputs/renditions';
import type { RenditionName } from '@framelane/contracts/renditions';
import { segmentKeyBelow } from '@framelane/object-store/object-keys';
import { PACKAGER } from '../../../packagers/packagers.ts';
import { encryptSegment } from '../../segment-encryption.ts';
import { withStorageRetries } from '../../storage-retries.ts';
import type { RunContext, TaskOutput } from '../../stored-run.ts';
import { together } from '../../together.ts';

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

/** Runs `work` for some items at a time (see `together`). Resolves with its results in the order of the items. */
export async function inParallel<T, R>(
  items: readonly T[],
  work: (item: T, signal: AbortSignal) => Promise<R>,
  signal: AbortSignal,
): Promise<R[]> {
  const results: R[] = [];
  const waiting = items.entries();
  const lane = async (either: AbortSignal) => {
    for (const [at, item] of waiting) {
      either.throwIfAborted();
      results[at] = await work(item, either);
    }
  };
  await together(signal, Array(AT_ONCE).fill(lane));
  return results;
}
