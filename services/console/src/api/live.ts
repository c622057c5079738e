import type { Schemas } from '@framelane/client';

/** Milliseconds between polls: while something on the page is in progress, and otherwise. */
const ACTIVE_MS = 2_000;
const IDLE_MS = 15_000;

/** Milliseconds until the next poll. */
export function pollInterval(isActive: boolean): number {
  return isActive ? ACTIVE_MS : IDLE_MS;
}

type Outputs = Pick<Schemas['Video'], 'status' | 'downloads' | 'autoCaptions'>;

/** Milliseconds until the next poll of videos. */
export function videoPollInterval(videos: readonly Outputs[]): number {
  return pollInterval(videos.some(changesSoon));
}

/** Codecs beside H.264 can wait for long, and the video is ready without them. */
function changesSoon({ status, downloads, autoCaptions }: Outputs): boolean {
  if (status === 'uploading' || status === 'processing') return true;
  return [...downloads, ...autoCaptions].some((output) => output.status === 'preparing');
}
