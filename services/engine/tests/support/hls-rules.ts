import { createDecipheriv } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import type { Manifest, RenditionManifest } from '@framelane/contracts/manifest';
import { PACKAGINGS } from '@framelane/contracts/packaging';
import { AWAITED_RENDITIONS } from '@framelane/contracts/renditions';
import { judge, violations } from '@framelane/hls-conformance';
import { loadPresentation } from '@framelane/hls-conformance/load-presentation';
import { isVideo, type LoadedSegment, type Presentation } from '@framelane/hls-conformance/presentation';
import { timelineOf } from '@framelane/hls-conformance/timeline';
import { expect } from '@jest/globals';
import { VideoServer } from './video-server.ts';
import type { StoredVideos } from './worker-bench.ts';

/** Serves a stored video, and checks it against the rules of `packages/hls-conformance` and against its manifest. */
export async function expectHlsRules(
  bench: StoredVideos,
  videoId: string,
  manifest: Manifest,
): Promise<void> {
  expect(await hlsViolations(bench, videoId, manifest)).toEqual([]);
}

/** The violated rules of a stored video, one per line. */
export async function hlsViolations(
  bench: StoredVideos,
  videoId: string,
  manifest: Manifest,
): Promise<string[]> {
  const server = await VideoServer.start(bench, videoId, manifest);
  try {
    const presentation = await loadPresentation(server.url);
    const report = judge(presentation, 'framelane', {
      // Variants are those in H.264.
      variants: AWAITED_RENDITIONS.filter((name) =>
        videoRenditionsOf(manifest).some((rendition) => rendition.name === name),
      ),
      storedSegments: await storedSegments(bench, videoId),
    });
    // The control plane serves the responses and orders the variants. The clip determines the ratio of peak to average. With a stream copy,
    // the source determines the key frames.
    const notChecked = ['playback.', 'master.default-variant', 'master.peak-to-average'];
    if (bench.copiesVideo.has(videoId)) notChecked.push('segments.key-frames', 'media.six-seconds');
    // ADR 86 says why it deviates.
    if (bench.stillVideos.has(videoId)) notChecked.push('segments.key-frames');
    return [
      ...violations(report, ['must', 'should', 'own']).filter(
        (violation) => !notChecked.some((rule) => violation.startsWith(rule)),
      ),
      ...manifestErrors(presentation, manifest),
    ];
  } finally {
    await server.stop();
  }
}

/** Differences between a manifest and the stored segments. */
function manifestErrors(presentation: Presentation, manifest: Manifest): string[] {
  // The last video rendition has the full frame rate; the last frame of others may end later.
  const top = presentation.renditions.findLast(isVideo);
  const times = top && timelineOf(top, presentation);
  if (!top) return soundErrors(presentation, manifest);
  if (!times || 'reason' in times) return [times?.reason ?? 'there is no video rendition'];
  const seconds = times.end - (times.starts[0] ?? Number.NaN);
  const frames = presentation.renditions.filter(isVideo).map(({ segments }) => framesOf(segments));
  const declaredFrames = declaredFramesOf(manifest);
  const renditions = [...presentation.renditions, ...presentation.iFrames];
  const bytes = renditions.map(({ segments }) => segments.map((segment) => segment.bytes));
  const declared = [...manifest.renditions, ...(manifest.iFrames ? [manifest.iFrames] : [])];
  const declaredBytes = declared.map(({ segments }) => segments.map((segment) => segment.bytes));
  return [
    ...(Math.abs(seconds - manifest.duration) < 0.001 ? [] : [`${seconds} s, not ${manifest.duration} s`]),
    ...(isDeepStrictEqual(frames, declaredFrames) ? [] : [`${frames} frames, not ${declaredFrames}`]),
    ...(isDeepStrictEqual(bytes, declaredBytes) ? [] : [`segments of ${bytes} bytes, not ${declaredBytes}`]),
  ];
}

/** The same for sound alone. Its encoder adds up to two frames at the beginning and at the end. */
function soundErrors({ renditions }: Presentation, manifest: Manifest): string[] {
  const declared = manifest.renditions.map(({ segments }) => segments.map(({ bytes }) => bytes));
  const found = renditions.map(({ segments }) => segments.map(({ bytes }) => bytes));
  const seconds = manifest.renditions.map(({ segments }) =>
    segments.reduce((sum, { duration }) => sum + duration, 0),
  );
  return [
    ...(isDeepStrictEqual(found, declared) ? [] : [`segments of ${found} bytes, not ${declared}`]),
    ...seconds
      .filter((each) => Math.abs(each - manifest.duration) > 0.05)
      .map((each) => `${each} s, not ${manifest.duration} s`),
  ];
}

function videoRenditionsOf({ renditions }: Manifest): RenditionManifest[] {
  return renditions.filter(({ width }) => width !== null);
}

/** The number of frames of each video rendition by the manifest. Lower renditions may have every second frame. */
function declaredFramesOf(manifest: Manifest): number[] {
  const rates = videoRenditionsOf(manifest).map(({ frameRate }) => frameRate ?? 0);
  const highest = Math.max(...rates);
  const frames = Math.round(manifest.duration * highest);
  return rates.map((rate) => Math.ceil(frames / Math.round(highest / rate)));
}

function framesOf(segments: readonly LoadedSegment[]): number {
  return segments.reduce((sum, { content }) => sum + (content?.video?.frames ?? 0), 0);
}

/** The stored segments by rendition and number, e.g. `360p/0.ts`. */
async function storedSegments(bench: StoredVideos, videoId: string): Promise<string[]> {
  const keys = await bench.stored(videoId);
  const { extension } = PACKAGINGS[bench.packaging];
  return keys.filter((key) => key.endsWith(`.${extension}`)).map((key) => key.split('/').slice(-2).join('/'));
}

/** The decrypted segments of a rendition, or some of them, after its initialization section if there is one. */
export async function playable(
  bench: StoredVideos,
  videoId: string,
  rendition: Parameters<typeof decrypted>[2] & Pick<RenditionManifest, 'initialization'>,
  numbers?: Iterable<number>,
): Promise<Buffer> {
  const initialization = Buffer.from(rendition.initialization ?? '', 'base64');
  return Buffer.concat([initialization, ...(await decrypted(bench, videoId, rendition, numbers))]);
}

/** The decrypted segments of a rendition, or some of them. */
export async function decrypted(
  bench: StoredVideos,
  videoId: string,
  rendition: { name: RenditionManifest['name']; segments: readonly unknown[] },
  numbers: Iterable<number> = rendition.segments.keys(),
): Promise<Buffer[]> {
  const segments: Buffer[] = [];
  for (const sequence of numbers) {
    const { body } = await bench.objects.get(bench.segmentKey(videoId, rendition.name, sequence));
    const ciphertext = await buffer(body);
    const vector = Buffer.from(sequence.toString(16).padStart(32, '0'), 'hex');
    const decipher = createDecipheriv('aes-128-cbc', bench.contentKey, vector);
    segments.push(Buffer.concat([decipher.update(ciphertext), decipher.final()]));
  }
  return segments;
}
