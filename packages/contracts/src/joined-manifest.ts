import { CLOCK_HZ, type Manifest, type RenditionManifest } from './manifest.ts';
import type { TaskResult } from './outputs/outputs.ts';
import type { StoredRendition } from './outputs/renditions.ts';
import { PACKAGINGS } from './packaging.ts';
import { type AlternativeCodec, I_FRAME_RENDITION, type RenditionName } from './renditions.ts';
import { encodePlanIn, isSoundAlone, type TranscodePlan } from './transcode-plan.ts';

/**
 * Largest difference between the start times of one segment in two renditions (HLS authoring specification 8.22), and from the
 * planned start time.
 */
export const ALIGNMENT_TOLERANCE_SECONDS = 0.001;

/** A rendition with all its segments. */
type Joined = Pick<StoredRendition, 'codecs' | 'initialization' | 'segments'>;

/**
 * The manifest of a video, from the results of all its tasks in any order. Throws an Error if a rendition is missing, or if its segments
 * are missing or duplicate, differ in their codecs, or start at other times than planned or than in another rendition.
 */
export function joinManifest(
  { encode, facts, segmentStarts }: Pick<TranscodePlan, 'encode' | 'facts' | 'segmentStarts'>,
  results: readonly TaskResult[],
): Manifest {
  const stored = results.flatMap(({ renditions = [] }) => renditions);
  const video = joinedVideo(encode, stored);
  const zero = isSoundAlone(encode)
    ? PACKAGINGS[encode.packaging].startTimestamp / CLOCK_HZ
    : (video[0]?.segments[0]?.start ?? Number.NaN);
  const ofVideo = describedVideo(video, { zero, encode, segmentStarts });
  const ofAudio = encode.audio.map(({ name, index, channels, end: audioEnd }): RenditionManifest => {
    const track = facts.audioTracks.find((each) => each.index === index);
    if (track === undefined) throw new Error(`The plan does not describe the track of ${name}`);
    const { language, label, role } = track;
    return {
      name,
      ...described(joined(name, stored), zero + audioEnd),
      width: null,
      height: null,
      frameRate: null,
      channels,
      language,
      label,
      ...(role && { role }),
    };
  });
  const iFrames = stored.some(({ name }) => name === I_FRAME_RENDITION);
  const end = zero + encode.duration;
  const { width = null, height = null } = encode.videoRenditions[0] ?? {};
  return {
    source: facts.source,
    duration: rounded(encode.duration, 3),
    inputIssues: encode.inputIssues,
    renditions: [...ofVideo, ...ofAudio],
    ...(iFrames && {
      iFrames: {
        name: I_FRAME_RENDITION,
        ...described(joined(I_FRAME_RENDITION, stored), end),
        width,
        height,
        frameRate: null,
        channels: null,
        language: null,
      },
    }),
    captions: facts.captions,
    chapters: facts.chapters,
    startTimestamp: Math.round(zero * CLOCK_HZ),
  };
}

/**
 * The renditions in a codec that a ready video did not wait for, from the results of all its tasks in any order. Throws an Error as `joinManifest`
 * does, and if segments start at other times than those of the video.
 *
 * @param startTimestamp of the video, in units of 1/90,000 s
 */
export function joinAlternative(
  codec: AlternativeCodec,
  plan: Pick<TranscodePlan, 'encode' | 'alternatives' | 'segmentStarts'>,
  results: readonly TaskResult[],
  startTimestamp: number,
): RenditionManifest[] {
  const encode = encodePlanIn(codec, plan);
  const stored = results.flatMap(({ renditions = [] }) => renditions);
  const zero = startTimestamp / CLOCK_HZ;
  return describedVideo(joinedVideo(encode, stored), { zero, encode, segmentStarts: plan.segmentStarts });
}

const VIDEO_RANGES = { pq: 'PQ', hlg: 'HLG' } as const;

type Ladder = Pick<TranscodePlan, 'encode' | 'segmentStarts'>;

function joinedVideo({ videoRenditions }: Ladder['encode'], stored: readonly StoredRendition[]): Joined[] {
  const video = videoRenditions.map(({ name }) => joined(name, stored));
  assertAligned(video);
  return video;
}

/** The renditions of a ladder as a manifest has them. Their first frame is at `zero`, in seconds. */
function describedVideo(
  video: readonly Joined[],
  { zero, encode, segmentStarts }: Ladder & { zero: number },
): RenditionManifest[] {
  const frameRate = encode.frameRate.numerator / encode.frameRate.denominator;
  const range = encode.tenBit?.range ?? 'sdr';
  if (video[0]) assertPlanned(video[0], { zero, frameRate, segmentStarts });
  return encode.videoRenditions.map(({ name, width, height, frameStep }, at) => ({
    name,
    ...described(video[at] as Joined, zero + encode.duration),
    width,
    height,
    frameRate: frameRate / frameStep,
    ...(range !== 'sdr' && { videoRange: VIDEO_RANGES[range] }),
    channels: null,
    language: null,
  }));
}

/** The segments of a rendition from all results. */
function joined(name: RenditionName, stored: readonly StoredRendition[]): Joined {
  const parts = stored.filter((part) => part.name === name).toSorted((a, b) => a.first - b.first);
  const segments: StoredRendition['segments'][number][] = [];
  for (const part of parts) {
    if (part.first !== segments.length)
      throw new Error(`Segment ${segments.length} of ${name} is missing or duplicate`);
    segments.push(...part.segments);
  }
  const [codecs, ...others] = new Set(parts.map((part) => part.codecs));
  if (codecs === undefined) throw new Error(`${name} is missing`);
  if (others.length > 0)
    throw new Error(`Segments of ${name} differ in their codecs: ${codecs} and ${others.join()}`);
  const [initialization, ...otherSections] = new Set(parts.map((part) => part.initialization));
  if (otherSections.length > 0)
    throw new Error(`Segments of ${name} differ in their initialization sections`);
  return { codecs, ...(initialization !== undefined && { initialization }), segments };
}

function assertAligned([first, ...others]: readonly Joined[]): void {
  for (const other of others) {
    if (other.segments.length !== first?.segments.length)
      throw new Error('The renditions differ in their number of segments');
    const apart = other.segments.findIndex(
      ({ start }, at) =>
        Math.abs(start - (first.segments[at]?.start ?? Number.NaN)) > ALIGNMENT_TOLERANCE_SECONDS,
    );
    if (apart !== -1) throw new Error(`Segment ${apart} starts at different times in two renditions`);
  }
}

function assertPlanned(
  { segments }: Joined,
  plan: { zero: number; frameRate: number; segmentStarts: readonly number[] },
): void {
  const { zero, frameRate, segmentStarts } = plan;
  if (segments.length !== segmentStarts.length) {
    throw new Error(`The video has ${segments.length} segments, not ${segmentStarts.length}`);
  }
  const moved = segments.findIndex(({ start }, at) => {
    const planned = zero + (segmentStarts[at] ?? Number.NaN) / frameRate;
    return !(Math.abs(start - planned) <= ALIGNMENT_TOLERANCE_SECONDS);
  });
  if (moved !== -1) throw new Error(`Segment ${moved} starts at another time than planned`);
}

/** A segment ends where the next begins, the last one at `end`. */
function described(
  { segments, ...facts }: Joined,
  end: number,
): Pick<RenditionManifest, 'codecs' | 'initialization' | 'segments'> {
  return {
    ...facts,
    segments: segments.map(({ start, bytes }, at) => ({
      duration: rounded((segments[at + 1]?.start ?? end) - start, 6),
      bytes,
    })),
  };
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
