/**
 * Why a video failed: `error.code` of the public record. The engine reports all but `upload_expired`, which only
 * the control plane can know.
 */
export const FAILURE_CODES = [
  'upload_expired',
  'not_a_video',
  'no_video_track',
  'malformed_media',
  'unsupported_codec',
  'duration_too_short',
  'duration_exceeded',
  'dimensions_exceeded',
  'transcode_failed',
  'transcode_timeout',
  'storage_failed',
  'internal_error',
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

/**
 * What an engine says when it stops with work in flight. The attempt is handed back: the next one starts at once
 * and it does not count against the attempts a video has. Never shown to the public.
 */
export const ENGINE_STOPPED = 'engine_stopped';
