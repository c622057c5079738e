import { Readable } from 'node:stream';
import type { StoredRendition } from '@framelane/contracts/outputs/renditions';
import type { RenditionName } from '@framelane/contracts/renditions';
import { segmentKeyBelow } from '@framelane/object-store/object-keys';
import type { SegmentReader } from '../../../packagers/packager.ts';
import type { ClipJob } from '../../kinds.ts';
import { encryptSegment } from '../../segment-encryption.ts';
import { withStorageRetries } from '../../storage-retries.ts';
import type { RunContext } from '../../stored-run.ts';
import { packagerOfClip } from './clip-job.ts';

/** A stored segment, as results have it. */
export type Stored = StoredRendition['segments'][number];

/** Encrypts a segment with the key of the clip, and stores it. */
export async function storeSegment(
  job: Pick<ClipJob, 'plan' | 'output'>,
  { name, sequence, segment }: { name: RenditionName; sequence: number; segment: Buffer },
  reader: Pick<SegmentReader, 'start'>,
  { objects, signal }: Pick<RunContext, 'objects' | 'signal'>,
): Promise<Stored> {
  const { contentKey, prefix } = job.output;
  const key = segmentKeyBelow(prefix, name, sequence, job.plan.encode.packaging);
  const options = { contentType: packagerOfClip(job).contentType, signal };
  const { bytes } = await withStorageRetries(() => {
    const ciphertext = encryptSegment(Readable.from([segment]), contentKey, sequence);
    return objects.putStream(key, ciphertext, options);
  }, signal);
  return { start: reader.start(segment), bytes };
}
