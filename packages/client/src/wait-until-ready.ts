import type { Client } from 'openapi-fetch';
import type { Paths, ReadyVideo, Video } from './contract.ts';
import { VideoFailedError } from './framelane-error.ts';
import { pause } from './pause.ts';
import { unwrap } from './unwrap.ts';

export type WaitOptions = {
  /** Gets the record whenever it was looked at: `status`, `progress`. */
  onProgress?: ((video: Video) => void) | undefined;
  /** Ends the waiting, e.g. `AbortSignal.timeout(600_000)`; its reason is thrown. */
  signal?: AbortSignal | undefined;
};

const SHORTEST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

/** Looks at a video, less often the longer it takes. */
export async function waitUntilReady(
  api: Client<Paths>,
  videoId: string,
  { onProgress, signal }: WaitOptions = {},
): Promise<ReadyVideo> {
  const beginMs = performance.now();
  for (;;) {
    const request = { params: { path: { id: videoId } }, signal: signal ?? null };
    const video = await unwrap(api.GET('/videos/{id}', request));
    onProgress?.(video);
    if (video.status === 'failed') throw new VideoFailedError(video);
    if (isReady(video)) return video;
    await pause(pauseBeforeLook(performance.now() - beginMs), signal);
  }
}

/** A tenth of the time waited so far: so much, at the most, comes on top of what a video takes. */
export function pauseBeforeLook(waitedMs: number): number {
  return Math.min(Math.max(waitedMs / 10, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
}

function isReady(video: Video): video is ReadyVideo {
  return video.status === 'ready';
}
