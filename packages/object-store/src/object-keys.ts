import { posix } from 'node:path';
import { type PackagingName, segmentName } from '@framelane/contracts/packaging';

/**
 * Builds and parses every object key. A key contains only ids and names that Framelane makes, nothing that a user has
 * entered.
 */

/**
 * The uploaded file, byte for byte. Each transfer has a key of its own, so that an abandoned one cannot affect another.
 */
export function sourceKey(workspaceId: string, videoId: string, transferId: string): string {
  return sourceIn(workspaceId, videoId, transferFolder(transferId));
}

/** The uploaded file in the folder of a transfer. */
export function sourceIn(workspaceId: string, videoId: string, folder: string): string {
  return `${sourcePrefix(workspaceId, videoId)}${folder}original`;
}

/** The folder of a transfer, within that of the uploads of its video. */
export function transferFolder(transferId: string): string {
  return `${transferId}/`;
}

/** The video and the transfer that stored an object of a source or of its tail; null for any other key. */
export function transferOf(key: string): { videoId: string; transferId: string } | null {
  const [, videoId, transferId] =
    /^sources\/[^/]+\/([^/]+)\/([^/.]+)(?:\/original|\.tail\/[^/]+)$/.exec(key) ?? [];
  return videoId === undefined || transferId === undefined ? null : { videoId, transferId };
}

/** Everything that one transfer has stored. */
export function transferPrefix(workspaceId: string, videoId: string, transferId: string): string {
  return `${sourcePrefix(workspaceId, videoId)}${transferFolder(transferId)}`;
}

/**
 * Small objects with the last bytes of an unfinished source. The prefix belongs to no transfer, so they are orphaned once the
 * source is registered.
 */
export function tailPrefix(sourceKey: string): string {
  return `${posix.dirname(sourceKey)}.tail/`;
}

/** Everything that was uploaded for a video. */
export function sourcePrefix(workspaceId: string, videoId: string): string {
  return `sources/${workspaceId}/${videoId}/`;
}

/** The output of all attempts at a video. */
export function hlsPrefix(workspaceId: string, videoId: string): string {
  return `hls/${workspaceId}/${videoId}/`;
}

/** The output of one attempt at a video. */
export function attemptPrefix(workspaceId: string, videoId: string, attempt: number): string {
  return `${hlsPrefix(workspaceId, videoId)}a${attempt}/`;
}

/** The folder of one try of a task, within that of its attempt. */
export function taskFolder(task: number, tryNumber: number): string {
  return `t${task}.${tryNumber}/`;
}

/** What the keys of all tries of a task begin with. */
export function taskPrefix({ workspaceId, videoId, attempt }: Omit<Output, 'folder'>, task: number): string {
  return `${attemptPrefix(workspaceId, videoId, attempt)}t${task}.`;
}

/** The folder, or the prefix, of the output of a plan that replaces `revision` others in a try: below that of the try. So no key has two contents. */
export function revised(folder: string, revision: number): string {
  return revision === 0 ? folder : `${folder}r${revision}/`;
}

/** A video, its attempt, and the folder of a try of a task within that of the attempt. */
type Output = { workspaceId: string; videoId: string; attempt: number; folder: string };

/** Segment `sequence` (0, 1, 2 …) of a rendition, encrypted. */
export function segmentKey(
  output: Output,
  rendition: string,
  sequence: number,
  packaging: PackagingName,
): string {
  return segmentKeyBelow(outputPrefix(output), rendition, sequence, packaging);
}

/** The same for an output whose prefix is known. */
export function segmentKeyBelow(
  prefix: string,
  rendition: string,
  sequence: number,
  packaging: PackagingName,
): string {
  return `${prefix}${rendition}/${segmentName(sequence, packaging)}`;
}

/** The images stored with the segments of an attempt. */
export type ImageName = 'poster.jpg' | 'storyboard.jpg';

/** An image of a video, not encrypted. */
export function imageKey(output: Output, name: ImageName): string {
  return `${outputPrefix(output)}${name}`;
}

/** The prefix of all objects of a try of a task. */
export function outputPrefix({ workspaceId, videoId, attempt, folder }: Output): string {
  return `${attemptPrefix(workspaceId, videoId, attempt)}${folder}`;
}

/** Names without a leading dot, joined by single slashes: safe as a relative path and in a URL. */
const KEY = /^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/;

/** The order in which stores list keys: that of their bytes. Only names that Framelane has not made have other characters than ASCII. */
export function compareKeys(a: string, b: string): number {
  if (/[\uD800-\uDFFF]/.test(a + b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : Number(a > b);
}

/** Whether this is a valid object key. */
export function isKey(key: string): boolean {
  return KEY.test(key);
}

/** Throws a TypeError unless `key` is a valid object key. */
export function assertKey(key: string): void {
  if (!isKey(key)) throw new TypeError(`Not an object key: ${JSON.stringify(key)}`);
}

/** Throws a TypeError unless `prefix` is a key and a slash: without the slash, `…/vid_1` would include `…/vid_10`. */
export function assertPrefix(prefix: string): void {
  if (!prefix.endsWith('/') || !KEY.test(prefix.slice(0, -1))) {
    throw new TypeError(`Not an object key prefix: ${JSON.stringify(prefix)}`);
  }
}
