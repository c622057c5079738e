import type { Manifest } from '@framelane/contracts/manifest';
import type { EncodePlan, VideoFacts } from '@framelane/contracts/transcode-plan';
import type { ProbedSource } from '../source/probe.ts';
import { audioLabels } from './audio-plan.ts';
import { chaptersOf } from './chapters.ts';

/** A still picture with hours of sound has a lower frame rate, which would be rounded to 0. */
const LOWEST_RATE = 0.001;

/** What the manifest says about the source. */
export function videoFacts(
  source: ProbedSource,
  plan: EncodePlan,
  captions: Manifest['captions'],
): VideoFacts {
  const labels = audioLabels(source.audio);
  return {
    source: {
      container: source.container,
      videoCodec: source.video?.codec ?? null,
      audioCodec: source.audio[0]?.codec ?? null,
      width: source.video?.display.width ?? null,
      height: source.video?.display.height ?? null,
      frameRate: plan.sourceRate === null ? null : Math.max(LOWEST_RATE, rounded(plan.sourceRate, 3)),
      duration: rounded(source.timeline.duration, 3),
    },
    audioTracks: source.audio.map(({ index, language, role }, at) => ({
      index,
      language,
      role,
      label: labels[at] ?? '',
    })),
    captions,
    chapters: chaptersOf(source.chapters, plan),
  };
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
