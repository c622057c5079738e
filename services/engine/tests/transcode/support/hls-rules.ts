import { createDecipheriv } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { Manifest, RenditionManifest } from '@framelane/contracts/manifest';
import { expect } from '@jest/globals';
import { adtsSeconds, nalTypes, readSegment, type SegmentContent } from './transport-stream-reader.ts';
import type { WorkerBench } from './worker-bench.ts';

const TICKS = 90_000;
const AAC_FRAME_SECONDS = 1024 / 44_100;
const [PAT, PMT] = [0, 4096];
const [IDR, SPS, PPS, SEI, DELIMITER] = [5, 7, 8, 6, 9];

/** Seconds at which each segment of a rendition begins, and the last one ends. */
type Times = { starts: number[]; end: number };

/**
 * Decrypts everything stored for a video and checks it against the rules for segments of RFC 8216 and of Apple's HLS
 * authoring specification (numbers in brackets), and against what the manifest says.
 */
export async function expectHlsRules(
  bench: WorkerBench,
  videoId: string,
  manifest: Manifest,
  keyFrames: 'two seconds apart' | 'of the source' = 'two seconds apart',
): Promise<void> {
  const video: Times[] = [];
  let audio: Times | undefined;
  for (const rendition of manifest.renditions) {
    const segments = await decrypted(bench, videoId, rendition);
    const contents = segments.map(readSegment);
    expectContinuity(contents);
    const times =
      rendition.name === 'audio' ? audioTimes(contents) : videoTimes(contents, rendition, keyFrames);
    expectDurations(rendition, times);
    if (rendition.name === 'audio') audio = times;
    else video.push(times);
  }
  const [first] = video;
  if (!first) throw new Error('There is no video rendition');
  // The same boundaries and first timestamp in all of them [8.22].
  for (const other of video) expectSameTimes(other, first);
  const frame = 1 / (manifest.renditions[0]?.frameRate ?? Number.NaN);
  expect(first.end - (first.starts[0] ?? Number.NaN)).toBeCloseTo(manifest.duration, 3);
  if (audio) {
    expect(Math.abs(audio.end - first.end)).toBeLessThanOrEqual(Math.max(frame, AAC_FRAME_SECONDS));
    expect(Math.abs((audio.starts[0] ?? Number.NaN) - (first.starts[0] ?? Number.NaN))).toBeLessThan(0.05);
  }
  expect(await bench.stored(videoId)).toEqual(
    manifest.renditions
      .flatMap(({ name, segments }) =>
        segments.map((_, sequence) => bench.segmentKey(videoId, name, sequence)),
      )
      .sort(),
  );
}

function expectSameTimes(one: Times, other: Times): void {
  const times = [...other.starts, other.end];
  expect(one.starts).toHaveLength(other.starts.length);
  for (const [at, time] of [...one.starts, one.end].entries()) {
    expect(Math.abs(time - (times[at] ?? Number.NaN))).toBeLessThan(0.001);
  }
}

/** The segments of a rendition in clear, their sizes in storage checked on the way. */
export async function decrypted(
  bench: WorkerBench,
  videoId: string,
  rendition: RenditionManifest,
): Promise<Buffer[]> {
  const segments: Buffer[] = [];
  for (const [sequence, { bytes }] of rendition.segments.entries()) {
    const { body } = await bench.objects.get(bench.segmentKey(videoId, rendition.name, sequence));
    const ciphertext = await buffer(body);
    expect(ciphertext.length).toBe(bytes);
    const vector = Buffer.from(sequence.toString(16).padStart(32, '0'), 'hex');
    const decipher = createDecipheriv('aes-128-cbc', bench.contentKey, vector);
    segments.push(Buffer.concat([decipher.update(ciphertext), decipher.final()]));
  }
  return segments;
}

/** Tables in front of each segment; counters run on from one to the next [7.1, 7.2]. */
function expectContinuity(contents: readonly SegmentContent[]): void {
  const last = new Map<number, number>();
  for (const { pids, counters } of contents) {
    expect(pids.slice(0, -1)).toEqual(expect.arrayContaining([PAT, PMT]));
    for (const [pid, counter] of counters) {
      const before = last.get(pid);
      if (before !== undefined) expect(counter.first).toBe((before + 1) % 16);
      last.set(pid, counter.last);
    }
  }
}

/**
 * Each segment begins with parameter sets and an IDR picture [7.4]; key frames are two seconds apart [1.10], or where the
 * source has them, which makes no segment too long.
 */
function videoTimes(
  contents: readonly SegmentContent[],
  { frameRate }: RenditionManifest,
  keyFrames: string,
): Times {
  const frame = 1 / (frameRate ?? Number.NaN);
  const pictures = contents.flatMap(({ units }) => units);
  for (const { units } of contents) {
    const [first] = units;
    const types = nalTypes(first?.bytes ?? Buffer.alloc(0)).filter(
      (type) => type !== DELIMITER && type !== SEI,
    );
    expect([...new Set(types)]).toEqual([SPS, PPS, IDR]);
    expect(first?.pts).toBe(Math.min(...units.map(({ pts }) => pts)));
  }
  const keyTimes = pictures
    .filter(({ bytes }) => nalTypes(bytes).includes(IDR))
    .map(({ pts }) => pts / TICKS);
  for (const [at, time] of keyTimes.slice(1).entries()) {
    const apart = time - (keyTimes[at] ?? 0);
    if (keyFrames === 'of the source') expect(apart).toBeLessThan(6.5);
    else expect(Math.abs(apart - 2)).toBeLessThan(frame + 0.001);
  }
  const times = pictures.map(({ pts }) => pts / TICKS).sort((a, b) => a - b);
  for (const [at, time] of times.slice(1).entries()) {
    expect(Math.abs(time - (times[at] ?? 0) - frame)).toBeLessThan(0.001);
  }
  return { starts: starts(contents), end: (times.at(-1) ?? Number.NaN) + frame };
}

function audioTimes(contents: readonly SegmentContent[]): Times {
  const last = contents.at(-1)?.units.at(-1);
  if (!last) throw new Error('The sound is empty');
  return { starts: starts(contents), end: last.pts / TICKS + adtsSeconds(last.bytes) };
}

function starts(contents: readonly SegmentContent[]): number[] {
  return contents.map(({ units }) => (units[0]?.pts ?? Number.NaN) / TICKS);
}

/** What the manifest says is what the timestamps say [8.1], and no segment rounds to more than six seconds [7.7]. */
function expectDurations({ segments }: RenditionManifest, { starts, end }: Times): void {
  expect(segments).toHaveLength(starts.length);
  for (const [at, { duration }] of segments.entries()) {
    const measured = (starts[at + 1] ?? end) - (starts[at] ?? Number.NaN);
    expect(Math.abs(duration - measured)).toBeLessThan(0.002);
    expect(Math.round(duration)).toBeLessThanOrEqual(6);
  }
}
