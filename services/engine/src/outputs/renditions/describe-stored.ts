import { CLOCK_HZ } from '@framelane/contracts/manifest';
import type { StoredRendition } from '@framelane/contracts/outputs/renditions';
import { PACKAGINGS } from '@framelane/contracts/packaging';
import { I_FRAME_RENDITION, type RenditionName } from '@framelane/contracts/renditions';
import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import { InvalidSegmentError } from '../../packagers/packager.ts';
import { copiedRenditions } from '../../plan/encode-plan.ts';
import { toNumber } from '../../source/frame-rate.ts';
import { incompleteOutput } from '../../transcode-failure.ts';
import { initializationFact } from './output-reader.ts';
import type { StoredSegment } from './segment-info.ts';
import type { StoredSegments } from './segment-uploads.ts';

/** Frames of the top rendition: the number of the first one, and how many. */
type FrameRange = { firstFrame: number; frames: number };

/**
 * The stored segments of the renditions of a plan, for a result. Throws an InvalidSegmentError if those of two renditions do not
 * match, and a TranscodeFailure if a segment of encoded media is truncated.
 *
 * @param range the frames that a run has made
 * @param first the number of the first segment and of the first I-frame
 */
export function describeStored(
  plan: EncodePlan,
  stored: StoredSegments,
  range: FrameRange,
  first = { firstSegment: 0, firstIFrame: 0 },
): StoredRendition[] {
  const { firstSegment, firstIFrame } = first;
  const videoRenditions = plan.videoRenditions.map((rendition) => ({
    ...rendition,
    segments: segmentsOf(rendition.name, stored, firstSegment),
  }));
  const frameRate = toNumber(plan.frameRate);
  // ffmpeg shifts all timestamps by the same amount. The first frame of the video is at zero.
  const zero =
    (videoRenditions[0]?.segments[0]?.start ?? PACKAGINGS[plan.packaging].startTimestamp / CLOCK_HZ) -
    range.firstFrame / frameRate;
  const end = zero + (range.firstFrame + range.frames) / frameRate;
  const renditions: StoredRendition[] = [];
  const copied = copiedRenditions(plan);
  for (const { name, frameStep, segments } of videoRenditions) {
    const isCopy = copied.has(name);
    const tolerance = (MAX_GAP_FRAMES * frameStep) / frameRate;
    assertContiguous(name, segments, { first: firstSegment, end, tolerance, isCopy });
    if (isCopy) assertAllFrames(name, segments, range.frames);
    renditions.push(describe(name, segments, firstSegment));
  }
  if (new Set(videoRenditions.map(({ segments }) => segments.length)).size > 1) {
    throw new InvalidSegmentError('The renditions differ in their number of segments');
  }
  for (const { name, ...audio } of plan.audio) {
    const segments = segmentsOf(name, stored, firstSegment);
    assertContiguous(name, segments, {
      first: firstSegment,
      end: zero + audio.end,
      tolerance: MAX_AUDIO_GAP_SECONDS,
      isCopy: copied.has(name),
    });
    renditions.push(describe(name, segments, firstSegment));
  }
  if (!stored.has(I_FRAME_RENDITION)) return renditions;
  const iFrames = segmentsOf(I_FRAME_RENDITION, stored, 0);
  return [...renditions, describe(I_FRAME_RENDITION, iFrames, firstIFrame)];
}

/** All segments of a rendition in order, from the first number. Throws if one is missing, or all are. */
function segmentsOf(name: RenditionName, stored: StoredSegments, first: number): readonly StoredSegment[] {
  const segments = stored.get(name)?.slice(first) ?? [];
  const isMissing = segments.length === 0 || Array.from(segments).includes(undefined as never);
  if (isMissing) throw new Error(`A segment of ${name} is missing`);
  return segments;
}

/** The longest time from the last frame of a segment to the next segment: one frame, and the rounding of timestamps. */
const MAX_GAP_FRAMES = 1.5;
/**
 * The longest gap between the audio of two segments: three AAC frames. A truncated segment lacks more.
 */
const MAX_AUDIO_GAP_SECONDS = 0.064;

/**
 * Throws if a segment ends before the next one begins. An encoded segment is then truncated, because the disk was full when
 * ffmpeg wrote it. With a stream copy the source may have the gap, and encoding it closes the gap.
 */
function assertContiguous(
  name: RenditionName,
  stored: readonly StoredSegment[],
  limits: { first: number; end: number; tolerance: number; isCopy: boolean },
): void {
  const { first, end, tolerance, isCopy } = limits;
  for (const [at, { last }] of stored.entries()) {
    const missing = (stored[at + 1]?.start ?? end) - last;
    if (missing <= tolerance) continue;
    const what = `Segment ${first + at} of ${name} ends ${missing.toFixed(3)} s early`;
    throw isCopy ? new InvalidSegmentError(what) : incompleteOutput(what);
  }
}

/** Throws if frames are missing. ffmpeg leaves out frames that are too damaged to copy, without an error. */
function assertAllFrames(name: RenditionName, stored: readonly StoredSegment[], planned: number): void {
  const frames = stored.reduce((sum, { units }) => sum + units, 0);
  if (frames < planned) throw new InvalidSegmentError(`${name} has ${frames} frames, not ${planned}`);
}

function describe(name: RenditionName, stored: readonly StoredSegment[], first: number): StoredRendition {
  const [codecs = '', ...others] = new Set(stored.map((segment) => segment.codecs));
  if (others.length > 0)
    throw new InvalidSegmentError(`Segments differ in their codecs: ${[codecs, ...others].join(' and ')}`);
  if (new Set(stored.map(({ initialization }) => initialization)).size > 1)
    throw new InvalidSegmentError('Segments differ in their initialization sections');
  return {
    name,
    codecs,
    ...(stored[0] && initializationFact(stored[0])),
    first,
    segments: stored.map(({ start, bytes }) => ({ start, bytes })),
  };
}
