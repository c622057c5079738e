import type { VideoRow } from '../db/schema.ts';

/**
 * Why an output that a client has asked for could not be made, or null. One that waits for its video cannot be made if the video has failed; a
 * retry of the video makes it.
 */
export function outputError<Code extends string>(
  { status }: Pick<VideoRow, 'status'>,
  { error_code: code, error_message: message }: { error_code: Code | null; error_message: string | null },
): { code: Code | 'video_failed'; message: string } | null {
  if (code !== null) return { code, message: message ?? '' };
  if (status !== 'failed') return null;
  return { code: 'video_failed', message: 'The video has failed. Its error says why.' };
}
