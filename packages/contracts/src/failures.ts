/** Why a video failed: `error.code` in the public API. The control plane sets `upload_expired`; the engine reports the others. */
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
 * The code an engine reports for attempts that it stops when it shuts down. The next attempt starts at once, and the stopped one does
 * not count towards the limit of attempts. It never appears in the public API.
 */
export const ENGINE_STOPPED = 'engine_stopped';
