import type { Hls } from 'hls-video-element';

/** What tells whether a stream has sound. Browsers that play HLS themselves have `audioTracks`. */
type Streamed = { api?: Pick<Hls, 'levels' | 'audioTracks'> | null; audioTracks?: { length: number } };

/** Whether the stream has sound; if that cannot be known, it has. */
export function hasSound({ api, audioTracks }: Streamed): boolean {
  if (api) return api.audioTracks.length > 0 || api.levels.some(({ audioCodec }) => audioCodec !== undefined);
  return audioTracks === undefined || audioTracks.length > 0;
}

/** Marks a video without sound for the style sheet, which then hides its volume. */
export function markSilence(root: HTMLElement, media: HTMLMediaElement): void {
  const mark = () => root.classList.toggle('silent', !hasSound(media as Streamed));
  media.addEventListener('loadedmetadata', mark);
}
