/** Why an import failed, with the message for the owner of the video. No message names an address. */
export const IMPORT_FAILURES = {
  import_address_refused: 'The host of the URL has an address that files may not be imported from.',
  import_host_not_found: 'The host name of the URL does not resolve to a public address.',
  import_unreachable: 'The connection to the host of the URL failed.',
  import_tls_failed: 'The TLS handshake with the host of the URL failed. Check the certificate.',
  import_denied: 'The server denied access to the file. Check the URL and the headers.',
  import_not_found: 'The server has no file at this URL.',
  import_redirected: 'The URL redirects too often, or to a URL that is not allowed.',
  import_server_failed: 'The server responded with an error.',
  import_encoded: 'The server sent the file with a content encoding although the request accepts none.',
  import_empty: 'The file is empty.',
  import_too_large: 'The file is larger than the maximum.',
  import_timed_out: 'The server did not send the whole file within the time limit.',
  import_changed: 'The file changed during the import.',
  import_incomplete: 'The connection closed before the file was complete.',
  import_quota_exceeded: 'The quota of the workspace has no room for the file.',
} as const;
export type ImportFailureCode = keyof typeof IMPORT_FAILURES;
export const IMPORT_FAILURE_CODES = Object.keys(IMPORT_FAILURES) as ImportFailureCode[];

/** Reasons in the file itself, or in what the ticket or import asks for: another try fails, too. */
const FILE_FAILURE_CODES = [
  'not_a_video',
  'no_video_track',
  'no_audio_track',
  'malformed_media',
  'unsupported_codec',
  'duration_too_short',
  'duration_exceeded',
  'dimensions_exceeded',
  'watermark_unusable',
  'trim_after_end',
] as const;

/** Why a transcode failed. The engine reports these codes. */
export const TRANSCODE_FAILURE_CODES = [
  ...FILE_FAILURE_CODES,
  'transcode_failed',
  'transcode_timeout',
  'storage_failed',
  'internal_error',
] as const;
export type TranscodeFailureCode = (typeof TRANSCODE_FAILURE_CODES)[number];

/** Why a video failed: `error.code` in the public API. `clip_source_deleted`: the video of a clip was deleted before the clip was ready. */
export type FailureCode = 'upload_expired' | 'clip_source_deleted' | ImportFailureCode | TranscodeFailureCode;
export const FAILURE_CODES: readonly FailureCode[] = [
  'upload_expired',
  'clip_source_deleted',
  ...IMPORT_FAILURE_CODES,
  ...TRANSCODE_FAILURE_CODES,
];

/** Whether another try with the same file can succeed. */
export function canRetryHelp(code: FailureCode): boolean {
  return code !== 'clip_source_deleted' && !(FILE_FAILURE_CODES as readonly string[]).includes(code);
}

/**
 * The code that an engine reports for tries that it stops when it shuts down. The next try is due at once, and the stopped one does not
 * count towards the limit of tries. The code never appears in the public API.
 */
export const ENGINE_STOPPED = 'engine_stopped';
