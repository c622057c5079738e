import type { Schemas } from '@framelane/client';
import { formatBytes } from '../ui/format.ts';

type Video = Schemas['Video'];

/** The status of a video, with its progress in whole percent. */
export function statusWords({
  status,
  progress,
  import: imported,
}: Pick<Video, 'status' | 'progress' | 'import'>): string {
  switch (status) {
    case 'uploading':
      return imported === null ? 'Waiting for a file' : importWords(imported);
    case 'processing':
      return `Processing ${progress} %`;
    case 'ready':
      return 'Ready';
    case 'failed':
      return 'Failed';
  }
}

function importWords({ bytes, totalBytes, nextTryAt }: Schemas['VideoImport']): string {
  if (nextTryAt !== null) return 'Import waits for a retry';
  if (bytes === 0) return 'Importing';
  const percent = importPercent({ bytes, totalBytes });
  return `Importing ${percent === null ? formatBytes(bytes) : `${percent} %`}`;
}

/** The status of a video in a word or two. */
export function statusName(video: Pick<Video, 'status' | 'import'>): string {
  return STATUS_NAMES[statusIcon(video)];
}

const STATUS_NAMES: Record<StatusIcon, string> = {
  waiting: 'Waiting for a file',
  importing: 'Importing',
  processing: 'Processing',
  ready: 'Ready',
  failed: 'Failed',
};

/** How much of an import has arrived, in whole percent; null if the server has not sent the length. */
export function importPercent({
  bytes,
  totalBytes,
}: Pick<Schemas['VideoImport'], 'bytes' | 'totalBytes'>): number | null {
  if (totalBytes === null || totalBytes === 0) return null;
  return Math.floor((100 * bytes) / totalBytes);
}

/** What the icon of a video shows: its status, and how it gets its file. */
export type StatusIcon = 'waiting' | 'importing' | 'processing' | 'ready' | 'failed';

export function statusIcon({ status, import: imported }: Pick<Video, 'status' | 'import'>): StatusIcon {
  if (status !== 'uploading') return status;
  return imported === null ? 'waiting' : 'importing';
}

/** The advice about a failed video. Codes of later versions get general advice. */
export function adviceFor(code: string): string {
  return (
    (ADVICE as Record<string, string>)[code] ??
    'Read the documentation of this code, or report it with the id of the video.'
  );
}

const CHECK_URL = 'Check the URL, then import the video again.';
const IMPORT_AGAIN = 'Import the video again later, or upload the file.';
const SMALLER = 'Change the file with an editor, or ask the operator for another limit.';

/** The advice for each code of the contract. The type requires every code. */
const ADVICE: Record<Schemas['FailureCode'], string> = {
  upload_expired: 'Upload the file again. A new upload creates a new video.',
  clip_source_deleted: 'Make the clip of another video.',
  import_address_refused:
    'Use the public address of the file. Framelane connects to private networks only if the operator allows them (IMPORT_ALLOW_CIDRS).',
  import_host_not_found:
    'Check the URL. Framelane connects to private networks only if the operator allows them (IMPORT_ALLOW_CIDRS).',
  import_unreachable: IMPORT_AGAIN,
  import_tls_failed: 'The certificate of the server is not valid. Repair it, or upload the file.',
  import_denied:
    'Use a URL that needs no sign-in, or import the video again with the request header that the server requires.',
  import_not_found: CHECK_URL,
  import_redirected: 'Use the URL at which the file is.',
  import_server_failed: IMPORT_AGAIN,
  import_encoded: 'Let the server send the file without Content-Encoding, or upload it.',
  import_empty: CHECK_URL,
  import_too_large: 'Upload a smaller file, or ask the operator for another limit.',
  import_timed_out: IMPORT_AGAIN,
  import_changed: 'Import the video again when the file no longer changes.',
  import_incomplete: IMPORT_AGAIN,
  import_quota_exceeded: 'Delete videos that you no longer need, or ask the operator for a larger quota.',
  not_a_video: 'Check that you chose the right file. It is not in a format that Framelane knows.',
  no_video_track:
    'The file has no video. To publish its sound alone, import it as sound alone, or upload it with “audioOnly”.',
  no_audio_track: 'The file has no sound. Upload it as a video.',
  malformed_media: 'Export the file again, and upload it completely.',
  unsupported_codec: 'Export the file with H.264 or H.265 and without copy protection.',
  duration_too_short: SMALLER,
  duration_exceeded: SMALLER,
  dimensions_exceeded: SMALLER,
  watermark_unusable: 'Upload another watermark image, and upload the video again with that one.',
  trim_after_end: 'Upload the file again with an earlier start of the trim.',
  transcode_failed: 'Retry. If it fails again, export the file with H.264 and upload it.',
  transcode_timeout: 'Retry when the system has less to do, or upload a shorter file.',
  storage_failed: 'Retry. If it fails again, the operator should check the storage.',
  internal_error: 'Retry. If it fails again, report it with the id of the video.',
};
