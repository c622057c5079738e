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
