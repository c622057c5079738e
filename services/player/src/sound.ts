import type { Hls } from 'hls-video-element';

/** What tells whether a stream has sound. Browsers that play HLS themselves have lists of tracks. */
export type Streamed = {
  api?: Pick<Hls, 'levels' | 'audioTracks'> | null;
  audioTracks?: { length: number };
  videoTracks?: { length: number };
};

/** Whether the stream has sound; if that cannot be known, it has. */
export function hasSound({ api, audioTracks, videoTracks }: Streamed): boolean {
  if (api) return api.audioTracks.length > 0 || api.levels.some(({ audioCodec }) => audioCodec !== undefined);
  // Safari may fill both lists later than it reports the metadata.
  return audioTracks === undefined || audioTracks.length > 0 || videoTracks?.length === 0;
}

/** Marks a video without sound for the style sheet, which then hides its volume. */
export function markSilence(root: HTMLElement, media: HTMLMediaElement): void {
  const mark = () => root.classList.toggle('silent', !hasSound(media as Streamed));
  for (const event of ['loadedmetadata', 'canplay', 'playing']) media.addEventListener(event, mark);
}
