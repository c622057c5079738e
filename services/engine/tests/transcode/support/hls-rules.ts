import { createDecipheriv } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { Manifest, RenditionManifest } from '@framelane/contracts/manifest';
import { complaints, judge } from '@framelane/hls-conformance/check';
import { loadPresentation } from '@framelane/hls-conformance/load-presentation';
import { isVideo, type LoadedSegment } from '@framelane/hls-conformance/presentation';
import { timelineOf } from '@framelane/hls-conformance/timeline';
import { expect } from '@jest/globals';
import { VideoServer } from './video-server.ts';
import type { WorkerBench } from './worker-bench.ts';

/**
 * Serves everything stored for a video, holds it to the rules of `packages/hls-conformance`, and against what the manifest
 * says.
 */
export async function expectHlsRules(bench: WorkerBench, videoId: string, manifest: Manifest): Promise<void> {
  const server = await VideoServer.start(bench, videoId, manifest);
  try {
    const presentation = await loadPresentation(server.url);
    const report = judge(presentation, 'framelane', {
      variants: manifest.renditions.filter(({ width }) => width !== null).map(({ name }) => name),
      storedSegments: await storedSegments(bench, videoId),
    });
    const found = complaints(report, ['must', 'should', 'own']);
    // How things are delivered is the control plane's, as is which rung comes first; how even a source is that is kept, its own.
    const others = ['delivery.', 'master.default-variant', 'master.peak-to-average'];
    if (bench.keptTop.has(videoId)) others.push('segments.key-frames', 'media.six-seconds');
    expect(found.filter((complaint) => !others.some((other) => complaint.startsWith(other)))).toEqual([]);

    const sizes = presentation.renditions.map(({ segments }) => segments.map(({ bytes }) => bytes));
    expect(sizes).toEqual(manifest.renditions.map(({ segments }) => segments.map(({ bytes }) => bytes)));
    const picture = presentation.renditions.find(isVideo);
    const times = picture && timelineOf(picture, presentation);
    if (!times || 'reason' in times) throw new Error(times?.reason ?? 'There is no picture');
    expect(times.end - (times.starts[0] ?? Number.NaN)).toBeCloseTo(manifest.duration, 3);

    const rungs = manifest.renditions.filter(({ width }) => width !== null);
    const frames = presentation.renditions.filter(isVideo).map(({ segments }) => framesOf(segments));
    expect(frames).toEqual(rungs.map((rung) => Math.round(manifest.duration * (rung.frameRate ?? 0))));
  } finally {
    await server.stop();
  }
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
