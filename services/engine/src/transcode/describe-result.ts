import type { Manifest, RenditionManifest } from '@framelane/contracts/manifest';
import { AUDIO_RENDITION, type RenditionName } from '@framelane/contracts/renditions';
import type { EncodePlan } from './encode-plan.ts';
import { toNumber } from './frame-rate.ts';
import type { ProbedSource } from './probe.ts';
import { UnfitSegmentError } from './segment-head.ts';
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
  const renditions = rungs.map(({ name, width, height, frameStep, stored: segments }): RenditionManifest => {
    const facts = describeSegments(segments, zero + plan.duration);
    return {
      name,
      ...facts,
      width,
      height,
      frameRate: frameRate / frameStep,
      channels: null,
      language: null,
    };
  });
  if (new Set(rungs.map((rung) => rung.stored.length)).size > 1) {
    throw new UnfitSegmentError('The rungs do not have the same number of segments');
  }
  if (plan.audio) {
    renditions.push({
      name: AUDIO_RENDITION,
      ...describeSegments(segmentsOf(AUDIO_RENDITION, stored), zero + plan.audio.end),
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
