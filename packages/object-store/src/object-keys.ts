/**
 * Builds and reads every storage key. Only ids and names made by Framelane go in; nothing a user typed is part of a key.
 */

/** The uploaded file, byte for byte. Each transfer has its own place: one that was given up cannot touch another's. */
export function sourceKey(workspaceId: string, videoId: string, transferId: string): string {
  return `${transferPrefix(workspaceId, videoId, transferId)}original`;
}

/** Whose a key of a source is; null for any other key. */
export function transferOf(key: string): { videoId: string; transferId: string } | null {
  const [, videoId, transferId] = /^sources\/[^/]+\/([^/]+)\/([^/]+)\/original$/.exec(key) ?? [];
  return videoId === undefined || transferId === undefined ? null : { videoId, transferId };
}

/** Everything one transfer stored. */
export function transferPrefix(workspaceId: string, videoId: string, transferId: string): string {
  return `${sourcePrefix(workspaceId, videoId)}${transferId}/`;
}

/** Everything uploaded for a video. */
export function sourcePrefix(workspaceId: string, videoId: string): string {
  return `sources/${workspaceId}/${videoId}/`;
}

/** Everything made for a video, by all attempts. */
export function hlsPrefix(workspaceId: string, videoId: string): string {
  return `hls/${workspaceId}/${videoId}/`;
}

/** Everything one attempt made. */
export function attemptPrefix(workspaceId: string, videoId: string, attempt: number): string {
  return `${hlsPrefix(workspaceId, videoId)}a${attempt}/`;
}

/** Segment `sequence` (0, 1, 2 …) of a rendition, encrypted. */
export function segmentKey(
  video: { workspaceId: string; videoId: string; attempt: number },
  rendition: string,
  sequence: number,
): string {
  return `${attemptPrefix(video.workspaceId, video.videoId, video.attempt)}${rendition}/${sequence}.ts`;
}

/** The pictures stored beside the segments of an attempt. */
export type ImageName = 'poster.jpg' | 'storyboard.jpg';

/** A picture of a video, as it is. */
export function imageKey(
  video: { workspaceId: string; videoId: string; attempt: number },
  name: ImageName,
): string {
  return `${attemptPrefix(video.workspaceId, video.videoId, video.attempt)}${name}`;
}
