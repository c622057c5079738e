import type { operations } from '#openapi';
import type { ReadyVideo } from './contract.ts';

/** A frame, as `thumbnail.jpg` and `thumbnail.webp` take it. Times are in seconds, sizes in pixels. */
export type ThumbnailOptions = NonNullable<operations['getThumbnailJpeg']['parameters']['query']> & {
  format?: 'jpg' | 'webp';
  /** A playback token, for a `signed` video. */
  token?: string;
};

/** A moving picture, as `preview.webp` and `preview.gif` take it. */
export type PreviewOptions = NonNullable<operations['getPreviewWebp']['parameters']['query']> & {
  format?: 'webp' | 'gif';
  /** A playback token, for a `signed` video. */
  token?: string;
};

type Playable = Pick<ReadyVideo, 'hls'>;

/** The URL of a frame of a ready video. The image is made when the URL is requested for the first time. */
export function thumbnailUrl(video: Playable, { format = 'jpg', ...query }: ThumbnailOptions = {}): string {
  return pictureUrl(video, `thumbnail.${format}`, query);
}

/** The URL of a moving picture of a ready video. */
export function previewUrl(video: Playable, { format = 'webp', ...query }: PreviewOptions = {}): string {
  return pictureUrl(video, `preview.${format}`, query);
}

function pictureUrl({ hls }: Playable, file: string, query: Record<string, unknown>): string {
  const url = new URL(file, hls);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, String(value));
  return url.href;
}
