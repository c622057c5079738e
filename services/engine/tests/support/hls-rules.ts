import { createDecipheriv } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import type { Manifest, RenditionManifest } from '@framelane/contracts/manifest';
import { complaints, judge } from '@framelane/hls-conformance/check';
import { loadPresentation } from '@framelane/hls-conformance/load-presentation';
import { isVideo, type LoadedSegment, type Presentation } from '@framelane/hls-conformance/presentation';
import { timelineOf } from '@framelane/hls-conformance/timeline';
import { expect } from '@jest/globals';
import { VideoServer } from './video-server.ts';
import type { WorkerBench } from './worker-bench.ts';

/**
 * Serves everything stored for a video, holds it to the rules of `packages/hls-conformance`, and against what the manifest
 * says.
 */
export async function expectHlsRules(bench: WorkerBench, videoId: string, manifest: Manifest): Promise<void> {
  expect(await hlsComplaints(bench, videoId, manifest)).toEqual([]);
}

/** What is wrong with a video that was made, one line each. */
export async function hlsComplaints(
  bench: WorkerBench,
  videoId: string,
  manifest: Manifest,
): Promise<string[]> {
  const server = await VideoServer.start(bench, videoId, manifest);
  try {
    const presentation = await loadPresentation(server.url);
    const report = judge(presentation, 'framelane', {
      variants: rungsOf(manifest).map(({ name }) => name),
      storedSegments: await storedSegments(bench, videoId),
    });
    // How things are delivered is the control plane's, as is which rung comes first; how even a source is that is kept, its own.
    const others = ['delivery.', 'master.default-variant', 'master.peak-to-average'];
    if (bench.keptTop.has(videoId)) others.push('segments.key-frames', 'media.six-seconds');
    return [
      ...complaints(report, ['must', 'should', 'own']).filter(
        (complaint) => !others.some((other) => complaint.startsWith(other)),
      ),
      ...untruths(presentation, manifest),
    ];
  } finally {
    await server.stop();
  }
}

/** What a manifest says that is not so. */
function untruths(presentation: Presentation, manifest: Manifest): string[] {
  // Those with fewer frames a second may end a frame of theirs later.
  const picture = presentation.renditions.findLast(isVideo);
  const times = picture && timelineOf(picture, presentation);
  if (!times || 'reason' in times) return [times?.reason ?? 'there is no picture'];
  const seconds = times.end - (times.starts[0] ?? Number.NaN);
  const frames = presentation.renditions.filter(isVideo).map(({ segments }) => framesOf(segments));
  const framesSaid = framesOfRungs(manifest);
  const bytes = presentation.renditions.map(({ segments }) => segments.map((segment) => segment.bytes));
  const bytesSaid = manifest.renditions.map(({ segments }) => segments.map((segment) => segment.bytes));
  return [
    ...(Math.abs(seconds - manifest.duration) < 0.001 ? [] : [`${seconds} s, not ${manifest.duration} s`]),
    ...(isDeepStrictEqual(frames, framesSaid) ? [] : [`${frames} frames, not ${framesSaid}`]),
    ...(isDeepStrictEqual(bytes, bytesSaid) ? [] : [`segments of ${bytes} bytes, not ${bytesSaid}`]),
  ];
}

function rungsOf({ renditions }: Manifest): RenditionManifest[] {
  return renditions.filter(({ width }) => width !== null);
}

/** Frames of each rung as its manifest says: all of them, or every so-manieth. */
function framesOfRungs(manifest: Manifest): number[] {
  const rates = rungsOf(manifest).map(({ frameRate }) => frameRate ?? 0);
  const highest = Math.max(...rates);
  const frames = Math.round(manifest.duration * highest);
  return rates.map((rate) => Math.ceil(frames / Math.round(highest / rate)));
}

function framesOf(segments: readonly LoadedSegment[]): number {
  return segments.reduce((sum, { content }) => sum + (content?.video?.frames ?? 0), 0);
}

/** The stored segments by rendition and number, e.g. `360p/0.ts`. */
async function storedSegments(bench: WorkerBench, videoId: string): Promise<string[]> {
  const keys = await bench.stored(videoId);
  return keys.filter((key) => key.endsWith('.ts')).map((key) => key.split('/').slice(-2).join('/'));
}

/** The segments of a rendition in clear. */
export async function decrypted(
  bench: WorkerBench,
  videoId: string,
  rendition: RenditionManifest,
): Promise<Buffer[]> {
  const segments: Buffer[] = [];
  for (const sequence of rendition.segments.keys()) {
    const { body } = await bench.objects.get(bench.segmentKey(videoId, rendition.name, sequence));
    const ciphertext = await buffer(body);
    const vector = Buffer.from(sequence.toString(16).padStart(32, '0'), 'hex');
    const decipher = createDecipheriv('aes-128-cbc', bench.contentKey, vector);
    segments.push(Buffer.concat([decipher.update(ciphertext), decipher.final()]));
  }
  return segments;
}
