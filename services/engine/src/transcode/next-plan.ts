import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import { audioFormatChange } from '../ffmpeg/errors.ts';
import { causeOf, isCopyFailure } from '../outputs/copy-failure.ts';
import { EmptyRenditionError } from '../outputs/renditions/segment-info.ts';
import { copiedRenditions, planEncoding } from '../plan/encode-plan.ts';
import type { ExplainedPlan, PlanSettings } from '../plan/explained-plan.ts';
import { isSound, type ProbedSource } from '../source/probe.ts';
import { canDecodeToStereo } from '../source/whitelist.ts';

/** A plan and the source that it was made for. */
export type PlannedSource = { plan: ExplainedPlan; source: ProbedSource };

/**
 * The next plan after one failed because of a property of the source that the probe does not detect. Null if no alternative
 * applies. The alternatives, in this order:
 * - the decoder mixes an audio track to stereo,
 * - all tracks are encoded instead of a stream copy,
 * - an audio track is left out because it cannot be decoded,
 * - an audio track is left out because it changes its format, if there is another audio track.
 */
export function nextPlan(
  { plan, source }: PlannedSource,
  error: unknown,
  settings: PlanSettings,
): (PlannedSource & { log: string }) | null {
  const cause = causeOf(error);
  const changed = changedTrack(plan, cause);
  if (changed && !changed.decodeToStereo && canMixToStereo(source, changed.index)) {
    const next = decodedToStereo(plan, [changed.index, ...tracksInStereo(plan)]);
    return { source, plan: next, log: 'transcode.audio_format_changed' };
  }
  const replanned = (from: ProbedSource, allowCopy: boolean) => ({
    source: from,
    plan: decodedToStereo(planEncoding(from, { allowCopy, ...settings }), tracksInStereo(plan)),
  });
  const hasCopies = copiedRenditions(plan).size > 0;
  if (hasCopies && !changed && isCopyFailure(error)) {
    return { ...replanned(source, false), log: 'transcode.copy_failed' };
  }
  const isOnlyTrack = source.audio.length === 1;
  // Nothing would be left.
  if (isSound(source) && isOnlyTrack) return null;
  const unusable = emptyTrack(plan, cause) ?? (isOnlyTrack ? undefined : changed);
  if (!unusable) return null;
  return {
    ...replanned(
      withoutAudioTrack(source, unusable.index),
      hasCopies || plan.copiedAlternative !== undefined,
    ),
    log: 'transcode.audio_left_out',
  };
}

/** The source without one of its audio tracks, which is reported as left out. */
export function withoutAudioTrack(source: ProbedSource, index: number): ProbedSource {
  const track = source.audio.find((audio) => audio.index === index);
  if (!track) return source;
  const { codec, language } = track;
  const leftOut = [...source.leftOut, { index, kind: 'audio' as const, codec, language }];
  return {
    ...source,
    audio: source.audio.filter((audio) => audio !== track),
    leftOut: leftOut.toSorted((a, b) => a.index - b.index),
  };
}

/** The audio whose format has changed; without an index in the message, the first. */
function changedTrack(plan: EncodePlan, cause: unknown) {
  const change = audioFormatChange(cause);
  return change && (plan.audio.find(({ index }) => index === change.index) ?? plan.audio[0]);
}

function emptyTrack(plan: EncodePlan, cause: unknown) {
  if (!(cause instanceof EmptyRenditionError)) return undefined;
  return plan.audio.find(({ name }) => name === cause.rendition);
}

function canMixToStereo({ audio }: ProbedSource, index: number): boolean {
  return audio.some((track) => track.index === index && canDecodeToStereo(track.codec));
}

function tracksInStereo({ audio }: EncodePlan): number[] {
  return audio.filter(({ decodeToStereo }) => decodeToStereo).map(({ index }) => index);
}

/** Lets the decoders of these tracks mix to stereo. The tracks then have no rendition in 5.1. */
function decodedToStereo(plan: ExplainedPlan, indexes: readonly number[]): ExplainedPlan {
  const audio = plan.audio
    .filter(({ index, channels }) => !(indexes.includes(index) && channels > 2))
    .map((track) => (indexes.includes(track.index) ? { ...track, decodeToStereo: true } : track));
  return { ...plan, audio };
}
