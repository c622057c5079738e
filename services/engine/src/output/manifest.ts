import type { Manifest, RenditionManifest } from '@framelane/contracts/manifest';
import { I_FRAME_RENDITION, type RenditionName } from '@framelane/contracts/renditions';
import { audioLabels } from '../plan/audio-plan.ts';
import type { EncodePlan } from '../plan/encode-plan.ts';
import { toNumber } from '../source/frame-rate.ts';
import type { ProbedSource } from '../source/probe.ts';
import { incompleteOutput } from '../transcode-failure.ts';
import { InvalidSegmentError } from './segment-info.ts';
import type { StoredSegment, StoredSegments } from './segment-uploads.ts';

/**
 * The manifest for the control plane, measured from the stored segments. Throws an InvalidSegmentError if the segments of
 * the renditions do not match, and a TranscodeFailure if a segment of encoded media is truncated.
 */
export function buildManifest(
  source: ProbedSource,
  plan: EncodePlan,
  stored: StoredSegments,
  others: Pick<Manifest, 'poster' | 'storyboard' | 'captions'>,
): Manifest {
  const rungs = plan.rungs.map((rung) => ({ ...rung, stored: segmentsOf(rung.name, stored) }));
  // ffmpeg shifts all timestamps by the same amount. The first frame is at zero.
  const zero = rungs[0]?.stored[0]?.start ?? Number.NaN;
  const frameRate = toNumber(plan.frameRate);
  const renditions = rungs.map((rung, at): RenditionManifest => {
    const { name, width, height, stored: segments } = rung;
    const renditionRate = frameRate / rung.frameStep;
    assertContiguous(name, segments, {
      end: zero + plan.duration,
      tolerance: MAX_GAP_FRAMES / renditionRate,
      isPassthrough: plan.videoPassthrough && at === rungs.length - 1,
    });
    const facts = describeSegments(segments, zero + plan.duration);
    return {
      name,
      ...facts,
      width,
      height,
      frameRate: renditionRate,
      channels: null,
      language: null,
    };
  });
  if (new Set(rungs.map((rung) => rung.stored.length)).size > 1) {
    throw new InvalidSegmentError('The renditions differ in their number of segments');
  }
  const labels = audioLabels(source.audio);
  for (const { name, index, channels, method, ...audio } of plan.audio) {
    const segments = segmentsOf(name, stored);
    const end = zero + audio.end;
    const isPassthrough = 'passthroughFrames' in method;
    assertContiguous(name, segments, { end, tolerance: MAX_AUDIO_GAP_SECONDS, isPassthrough });
    const at = source.audio.findIndex((track) => track.index === index);
    const { language = null, role = null } = source.audio[at] ?? {};
    renditions.push({
      name,
      ...describeSegments(segments, end),
      ...{ width: null, height: null, frameRate: null, channels, language },
      ...{ label: labels[at], ...(role && { role }) },
    });
  }
  return {
    source: {
      container: source.container,
      videoCodec: source.video.codec,
      audioCodec: source.audio[0]?.codec ?? null,
      ...source.video.display,
      frameRate: rounded(plan.sourceRate, 3),
      duration: rounded(source.timeline.duration, 3),
    },
    duration: rounded(plan.duration, 3),
    inputIssues: plan.inputIssues,
    renditions,
    ...(stored.has(I_FRAME_RENDITION) && { iFrames: describeIFrames(plan, stored, zero) }),
    ...others,
    startTimestamp: Math.round(zero * 90_000),
  };
}

function describeIFrames(plan: EncodePlan, stored: StoredSegments, zero: number): RenditionManifest {
  const { width = null, height = null } = plan.rungs[0] ?? {};
  return {
    name: I_FRAME_RENDITION,
    ...describeSegments(segmentsOf(I_FRAME_RENDITION, stored), zero + plan.duration),
    ...{ width, height, frameRate: null, channels: null, language: null },
  };
}

/** All segments of a rendition in order. Throws if one is missing, or all are. */
function segmentsOf(name: RenditionName, stored: StoredSegments): readonly StoredSegment[] {
  const segments = stored.get(name) ?? [];
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
 * Throws if a segment ends before the next one begins. An encoded segment is then truncated, as the disk was full when
 * ffmpeg wrote it. With passthrough the source may have the gap, and encoding it closes the gap.
 */
function assertContiguous(
  name: RenditionName,
  stored: readonly StoredSegment[],
  { end, tolerance, isPassthrough }: { end: number; tolerance: number; isPassthrough: boolean },
): void {
  for (const [at, { last }] of stored.entries()) {
    const missing = (stored[at + 1]?.start ?? end) - last;
    if (missing <= tolerance) continue;
    const what = `Segment ${at} of ${name} ends ${missing.toFixed(3)} s early`;
    throw isPassthrough ? new InvalidSegmentError(what) : incompleteOutput(what);
  }
}

/** Codecs and durations: a segment ends where the next begins, the last one at `end`. */
function describeSegments(
  stored: readonly StoredSegment[],
  end: number,
): Pick<RenditionManifest, 'codecs' | 'segments'> {
  const codecs = new Set(stored.map((segment) => segment.codecs));
  const [first = '', ...others] = codecs;
  if (others.length > 0)
    throw new InvalidSegmentError(`Segments differ in their codecs: ${[...codecs].join(' and ')}`);
  const segments = stored.map(({ start, bytes }, at) => ({
    duration: rounded((stored[at + 1]?.start ?? end) - start, 6),
    bytes,
  }));
  return { codecs: first, segments };
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
