import type { Schemas } from '@framelane/client';

/** Milliseconds between polls: while something on the page is in progress, and otherwise. */
const ACTIVE_MS = 2_000;
const IDLE_MS = 15_000;

/** Milliseconds until the next poll. */
export function pollInterval(isActive: boolean): number {
  return isActive ? ACTIVE_MS : IDLE_MS;
}

/** Milliseconds until the next poll of videos. */
export function videoPollInterval(videos: readonly Pick<Schemas['Video'], 'status' | 'downloads'>[]): number {
  return pollInterval(videos.some(changesSoon));
}

function changesSoon({ status, downloads }: Pick<Schemas['Video'], 'status' | 'downloads'>): boolean {
  if (status === 'uploading' || status === 'processing') return true;
  return downloads.some((download) => download.status === 'preparing');
}
