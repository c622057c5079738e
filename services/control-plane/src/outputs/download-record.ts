import { downloadExtension } from '@framelane/contracts/outputs/download';
import type { components } from '@framelane/openapi/types';
import type { DownloadRow, VideoRow } from '../db/schema.ts';
import { outputError } from './output-error.ts';

/** A download as PostgreSQL builds it in JSON, with its size once it is ready. */
export type StoredDownload = Pick<DownloadRow, 'name' | 'status' | 'error_code' | 'error_message'> & {
  created_at: string;
  ready_at: string | null;
  bytes: number | null;
};

/** A download in the record of its video. `baseUrl` ends in `/v1`. */
export function toDownload(
  video: Pick<VideoRow, 'id' | 'workspace_id' | 'status'>,
  download: StoredDownload,
  baseUrl: string,
): components['schemas']['Download'] {
  const { name, bytes } = download;
  const error = outputError(video, download);
  const url = `${baseUrl}/hls/${video.workspace_id}/${video.id}/downloads/${name}.${downloadExtension(name)}`;
  return {
    file: name,
    status: error === null ? download.status : 'failed',
    url: download.status === 'ready' ? url : null,
    bytes,
    error,
    createdAt: new Date(download.created_at).toISOString(),
    readyAt: download.ready_at === null ? null : new Date(download.ready_at).toISOString(),
  };
}
