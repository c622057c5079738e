import type { Schemas, Video } from '@framelane/client';

/** Videos that failed for the same reason. */
export type FailureGroup = { error: Schemas['VideoError']; videos: readonly Video[] };

/** The failed videos that changed after a time, a Unix time in milliseconds, by the reason of their failure; in the order of their first videos. */
export function failureGroups(videos: readonly Video[], time: number): FailureGroup[] {
  const groups = new Map<string, { error: Schemas['VideoError']; videos: Video[] }>();
  for (const video of videos) {
    const { error, updatedAt } = video;
    if (error === null || Date.parse(updatedAt) <= time) continue;
    const key = `${error.code} ${error.message}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { error, videos: [video] });
    else group.videos.push(video);
  }
  return [...groups.values()];
}
