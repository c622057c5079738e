import { isAudioRendition, type TrackRendition } from '@framelane/contracts/renditions';
import { InvalidSegmentError, type SegmentInfo } from '../../packagers/packager.ts';
import type { OutputFile } from '../../sandbox/tool-output.ts';
import { incompleteOutput, refusal, type TranscodeFailure } from '../../transcode-failure.ts';

/** A stored segment, with the size of its ciphertext. */
export type StoredSegment = Omit<SegmentInfo, 'configuration'> & { bytes: number };

/** The first segment of a rendition is empty: the decoder rejected the whole track. */
export class EmptyRenditionError extends InvalidSegmentError {
  override name = 'EmptyRenditionError';
  readonly rendition: TrackRendition;

  constructor(rendition: TrackRendition) {
    super(`A segment of ${rendition} is empty`);
    this.rendition = rendition;
  }
}

/** Throws a refusal if the first segment is empty, and a retryable failure if a later one is. */
export function assertNotEmpty(
  { bytes }: OutputFile,
  { rendition, sequence }: { rendition: TrackRendition; sequence: number },
): void {
  if (bytes > 0) return;
  throw sequence === 0 ? emptyTrack(rendition) : incompleteOutput('A segment is empty');
}

/** The probe found packets in the track, so the decoder rejected all of them. */
function emptyTrack(rendition: TrackRendition): TranscodeFailure {
  const cause = new EmptyRenditionError(rendition);
  const message = `No frame of the ${isAudioRendition(rendition) ? 'audio' : 'video'} track can be decoded. Export the file again and upload that.`;
  return refusal('malformed_media', message, cause);
}
