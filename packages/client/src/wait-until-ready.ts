import type { ReadyVideo, Video } from './contract.ts';
import { VideoFailedError } from './framelane-error.ts';
import { pause } from './pause.ts';
import type { RetryOptions } from './retries.ts';

/** `retries` and `timeoutMs` are those of each poll. */
export type WaitOptions = RetryOptions & {
  /** Called with the video after every poll, for example to show its `progress`. */
  onProgress?: ((video: Video) => void) | undefined;
  /** Stops the polling, e.g. `AbortSignal.timeout(600_000)`. Its reason is thrown. */
  signal?: AbortSignal | undefined;
};

const SHORTEST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;

/** Polls a video with `get`, less often the longer it takes. */
export async function waitUntilReady(
  get: () => Promise<Video>,
  { onProgress, signal }: WaitOptions = {},
): Promise<ReadyVideo> {
  const beginMs = performance.now();
  for (;;) {
    const video = await get();
    onProgress?.(video);
    if (video.status === 'failed') throw new VideoFailedError(video);
    if (isReady(video)) return video;
    await pause(pauseBeforePoll(performance.now() - beginMs), signal);
  }
}

/** A tenth of the time waited so far, so that polling adds at most a tenth to the time that a video takes. */
export function pauseBeforePoll(waitedMs: number): number {
  return Math.min(Math.max(waitedMs / 10, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
}

function isReady(video: Video): video is ReadyVideo {
  return video.status === 'ready';
}
