import type { Manifest, RenditionManifest } from '@framelane/contracts/manifest';
import { AUDIO_RENDITION, type RenditionName } from '@framelane/contracts/renditions';
import type { EncodePlan } from '../plan/encode-plan.ts';
import { toNumber } from '../source/frame-rate.ts';
import type { ProbedSource } from '../source/probe.ts';
import { incompleteOutput } from '../transcode-failure.ts';
import { UnfitSegmentError } from './segment-info.ts';
import type { StoredSegment, StoredSegments } from './segment-uploads.ts';

/**
 * Everything the control plane needs to serve the video, measured from what is stored. Throws an UnfitSegmentError when
 * the rungs do not fit together.
 */
export function describeResult(
  source: ProbedSource,
  plan: EncodePlan,
  stored: StoredSegments,
  images: Pick<Manifest, 'poster' | 'storyboard'>,
): Manifest {
  const rungs = plan.rungs.map((rung) => ({ ...rung, stored: segmentsOf(rung.name, stored) }));
  // All timestamps are shifted alike; the first picture is at zero.
  const zero = rungs[0]?.stored[0]?.start ?? Number.NaN;
  const frameRate = toNumber(plan.frameRate);
  const renditions = rungs.map((rung, at): RenditionManifest => {
    const { name, width, height, stored: segments } = rung;
    const rungRate = frameRate / rung.frameStep;
    assertJoined(name, segments, {
      end: zero + plan.duration,
      tolerance: LONGEST_GAP_FRAMES / rungRate,
      isKept: plan.videoPassthrough && at === rungs.length - 1,
    });
    const facts = describeSegments(segments, zero + plan.duration);
    return {
      name,
      ...facts,
      width,
      height,
      frameRate: rungRate,
      channels: null,
      language: null,
    };
  });
  if (new Set(rungs.map((rung) => rung.stored.length)).size > 1) {
    throw new UnfitSegmentError('The rungs do not have the same number of segments');
  }
  if (plan.audio) {
    const segments = segmentsOf(AUDIO_RENDITION, stored);
    const end = zero + plan.audio.end;
    const isKept = 'passthroughFrames' in plan.audio.make;
    assertJoined(AUDIO_RENDITION, segments, { end, tolerance: LONGEST_AUDIO_GAP_SECONDS, isKept });
    renditions.push({
      name: AUDIO_RENDITION,
      ...describeSegments(segments, end),
      ...{ width: null, height: null, frameRate: null, channels: 2 },
      language: source.audio?.language ?? null,
    });
  }
  return {
    source: {
      container: source.container,
      videoCodec: source.video.codec,
      audioCodec: source.audio?.codec ?? null,
      ...source.video.display,
      frameRate: rounded(plan.sourceRate, 3),
      duration: rounded(source.timeline.duration, 3),
    },
    duration: rounded(plan.duration, 3),
    inputIssues: plan.inputIssues,
    renditions,
    ...images,
  };
}

/** All segments of a rendition in order. Throws when one is missing, or none is there. */
function segmentsOf(name: RenditionName, stored: StoredSegments): readonly StoredSegment[] {
  const segments = stored.get(name) ?? [];
  const isMissing = segments.length === 0 || Array.from(segments).includes(undefined as never);
  if (isMissing) throw new Error(`A segment of ${name} is missing`);
  return segments;
}

/** From the beginning of the last picture of a segment to the next segment: one frame, and what times are rounded to. */
const LONGEST_GAP_FRAMES = 1.5;
/** From the end of the sound of a segment to the next: nothing, but for three frames of AAC. A cut leaves more missing. */
const LONGEST_AUDIO_GAP_SECONDS = 0.064;

/**
 * Throws when a segment ends before the next one begins: the disk was full when it was written. Of what is kept of the
 * source the fault may be the source's, which encoding it mends.
 */
function assertJoined(
  name: RenditionName,
  stored: readonly StoredSegment[],
  { end, tolerance, isKept }: { end: number; tolerance: number; isKept: boolean },
): void {
  for (const [at, { last }] of stored.entries()) {
    const missing = (stored[at + 1]?.start ?? end) - last;
    if (missing <= tolerance) continue;
    const what = `Segment ${at} of ${name} ends ${missing.toFixed(3)} s early`;
    throw isKept ? new UnfitSegmentError(what) : incompleteOutput(what);
  }
}

/** Each segment lasts until the next begins, the last until `end`. */
function describeSegments(
  stored: readonly StoredSegment[],
  end: number,
): Pick<RenditionManifest, 'codecs' | 'segments'> {
  const codecs = new Set(stored.map((segment) => segment.codecs));
  const [first = '', ...others] = codecs;
  if (others.length > 0) throw new UnfitSegmentError(`Segments are coded as ${[...codecs].join(' and ')}`);
  const segments = stored.map(({ start, bytes }, at) => ({
    duration: rounded((stored[at + 1]?.start ?? end) - start, 6),
    bytes,
  }));
  return { codecs: first, segments };
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
