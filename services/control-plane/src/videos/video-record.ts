import { canRetryHelp } from '@framelane/contracts/failures';
import {
  AUDIO_RENDITIONS,
  PLAIN_CODEC,
  partsOf,
  type RenditionName,
  SURROUND_RENDITIONS,
  VIDEO_RENDITIONS,
  type VideoRendition,
} from '@framelane/contracts/renditions';
import type { components } from '@framelane/openapi/types';
import type { ArtifactKind, RenditionRow, VideoRow } from '../db/schema.ts';
import { type StoredAutoCaptions, toAutoCaptions } from '../outputs/auto-captions-record.ts';
import { type StoredDownload, toDownload } from '../outputs/download-record.ts';
import { outputError } from '../outputs/output-error.ts';
import { aspectRatio } from './aspect-ratio.ts';
import { toOwnFields } from './video-columns.store.ts';

/** The public record of a video. */
export type VideoRecord = components['schemas']['Video'];

/** Kinds of artifacts that the record of a video shows, and of which it has at most one. */
export const SINGLE_ARTIFACTS = [
  'source',
  'poster',
  'chosen_poster',
  'picked_poster',
] as const satisfies readonly ArtifactKind[];
type SingleArtifact = (typeof SINGLE_ARTIFACTS)[number];

/** A video rendition as PostgreSQL builds it in JSON. */
type StoredVideo = Omit<components['schemas']['VideoRendition'], 'variant' | 'codec'> & {
  name: VideoRendition;
};

/** A video with the expiry of its ticket or import, its import, its video and audio renditions, its captions, its artifacts, and the version of all of these. */
export type VideoDetails = VideoRow & {
  upload_expires_at: Date | null;
  import: VideoRecord['import'];
  audio:
    | readonly (Pick<RenditionRow, 'name' | 'language' | 'role' | 'channels'> & { label: string })[]
    | null;
  /** In any order. */
  video_renditions: readonly StoredVideo[];
  captions: VideoRecord['captions'];
  autoCaptions: readonly StoredAutoCaptions[];
  downloads: readonly StoredDownload[];
  /** `exists`: whether the parent has not been deleted. */
  clip_of: (components['schemas']['ClipOf'] & { exists: boolean }) | null;
  /** Bytes of the artifacts of the kinds of which a video has one, by kind. */
  stored: Partial<Record<SingleArtifact, number>>;
  version: string;
};

/** The URL of the master playlist; it works once the video is ready or has a preview. `baseUrl` ends in `/v1`. */
export function masterPlaylistUrl(video: { workspaceId: string; id: string }, baseUrl: string): string {
  return playbackUrl(video, baseUrl, 'master.m3u8');
}

function playbackUrl(video: { workspaceId: string; id: string }, baseUrl: string, file: string): string {
  return `${baseUrl}/hls/${video.workspaceId}/${video.id}/${file}`;
}

/** The public record of a row. `baseUrl` ends in `/v1`. */
export function toVideoRecord(row: VideoDetails, baseUrl: string): VideoRecord {
  const address = { workspaceId: row.workspace_id, id: row.id };
  const { title, keepSource, ...own } = toOwnFields(row);
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    environment: row.environment,
    status: row.status,
    title,
    filename: row.filename,
    ...own,
    embed: `${baseUrl}/embed/${row.workspace_id}/${row.id}`,
    thumbnail: hasPoster(row) ? playbackUrl(address, baseUrl, 'poster.jpg') : null,
    poster: chosenPoster(row),
    storyboard: row.storyboard === null ? null : playbackUrl(address, baseUrl, 'storyboard.vtt'),
    ...(row.status === 'ready' && {
      hls: masterPlaylistUrl(address, baseUrl),
      variants: row.variants ?? [],
      renditions: videoRenditions(row.video_renditions),
      audioTracks: audioTracks(row.audio),
    }),
    preview: previewOf(row, baseUrl),
    packaging: row.packaging,
    codecs: codecsOf(row),
    hdr: row.hdr,
    audioOnly: isSoundAlone(row),
    watermark: row.watermark,
    trim: row.trim,
    duration: row.duration,
    width: row.width,
    height: row.height,
    aspectRatio: row.width !== null && row.height !== null ? aspectRatio(row.width, row.height) : null,
    frameRate: row.frame_rate,
    size: row.size,
    storageBytes: row.storage_bytes,
    progress: row.progress,
    error: row.error_code !== null ? { code: row.error_code, message: row.error_message ?? '' } : null,
    inputIssues: row.input_issues,
    captions: row.captions.map((captions) => ({
      ...captions,
      updatedAt: new Date(captions.updatedAt).toISOString(),
    })),
    autoCaptions: row.autoCaptions.map((captions) => toAutoCaptions(row, captions)),
    downloads: row.downloads.map((download) => toDownload(row, download, baseUrl)),
    chapterCount: row.chapter_count,
    source: row.source !== null && row.sha256 !== null ? { ...row.source, sha256: row.sha256 } : null,
    import: row.import && importRecord(row.import),
    clipOf: clipRecord(row.clip_of),
    keepSource,
    ...sourceState(row),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    uploadedAt: row.uploaded_at?.toISOString() ?? null,
    readyAt: row.ready_at?.toISOString() ?? null,
    expiresAt: (row.status === 'uploading' ? row.upload_expires_at : row.remove_at)?.toISOString() ?? null,
  };
}

/** Whether the stream has no video. Until it is ready: what the request asked for. */
function isSoundAlone({ status, variants, audio_only }: VideoRow): boolean | null {
  return status === 'ready' ? variants?.length === 0 : audio_only;
}

function chosenPoster({ chosen_poster, stored }: VideoDetails): VideoRecord['poster'] {
  const { chosen_poster: bytes } = stored;
  return chosen_poster === null || bytes === undefined ? null : { bytes, ...chosen_poster };
}

/** A poster that a client has set can be loaded as soon as the video can be played. */
function hasPoster({ stored, chosen_poster, status, preview_variants }: VideoDetails): boolean {
  if (stored.poster !== undefined || stored.picked_poster !== undefined) return true;
  return chosen_poster !== null && (status === 'ready' || preview_variants !== null);
}

function previewOf(
  { workspace_id, id, preview_variants }: VideoRow,
  baseUrl: string,
): VideoRecord['preview'] {
  if (preview_variants === null) return null;
  return { hls: masterPlaylistUrl({ workspaceId: workspace_id, id }, baseUrl), variants: preview_variants };
}

/** The codecs of a video, H.264 first. Sound alone has none, whatever was asked for. */
function codecsOf(row: VideoRow): VideoRecord['codecs'] {
  if (isSoundAlone(row)) return [];
  const plain = {
    codec: PLAIN_CODEC,
    status: row.status === 'ready' ? 'ready' : 'preparing',
    error: null,
  } as const;
  return [plain, ...row.codecs].map(({ codec, status, error }) => {
    const reason = error ?? outputError<'video_failed'>(row, { error_code: null, error_message: null });
    return { codec, status: reason === null ? status : 'failed', error: reason };
  });
}

/** Video renditions, by codec, the lowest first. */
function videoRenditions(stored: readonly StoredVideo[]): components['schemas']['VideoRendition'][] {
  return VIDEO_RENDITIONS.flatMap((name) => {
    const found = stored.find((rendition) => rendition.name === name);
    if (found === undefined) return [];
    const { name: _, ...facts } = found;
    const { rung, codec } = partsOf(name);
    return [{ variant: rung, codec, ...facts }];
  });
}

/** The audio tracks, the default one first. */
function audioTracks(audio: VideoDetails['audio']): components['schemas']['AudioTrack'][] {
  const find = (name: RenditionName | undefined) => audio?.find((rendition) => rendition.name === name);
  return AUDIO_RENDITIONS.flatMap((name, at) => {
    const track = find(name);
    if (track === undefined) return [];
    return [
      {
        name: track.label,
        language: track.language,
        role: track.role ?? 'main',
        channels: track.channels ?? 2,
        surround: find(SURROUND_RENDITIONS[at]) !== undefined,
        default: at === 0,
      },
    ];
  });
}

/** The import as PostgreSQL builds it, with its time in the format of the API. */
function importRecord(row: NonNullable<VideoRecord['import']>): VideoRecord['import'] {
  return { ...row, nextTryAt: row.nextTryAt === null ? null : new Date(row.nextTryAt).toISOString() };
}

function clipRecord(clip: VideoDetails['clip_of']): VideoRecord['clipOf'] {
  return clip === null ? null : { videoId: clip.videoId, start: clip.start, end: clip.end };
}

function sourceState(row: VideoDetails): Pick<VideoRecord, 'sourceFile' | 'retryable'> {
  const stored = row.stored.source !== undefined;
  return {
    sourceFile: {
      stored,
      keptUntil: row.delete_source_at?.toISOString() ?? null,
      deletedAt: row.source_deleted_at?.toISOString() ?? null,
    },
    retryable:
      row.status === 'failed' &&
      (stored || row.clip_of?.exists === true) &&
      row.error_code !== null &&
      canRetryHelp(row.error_code),
  };
}
