import { isAudioFormatChange } from '../ffmpeg/errors.ts';
import { ToolError } from '../ffmpeg/run-tool.ts';
import { InvalidSegmentError } from '../output/segment-info.ts';
import { type EncodePlan, hasPassthrough, planEncoding } from '../plan/encode-plan.ts';
import type { MaxRates } from '../plan/ladder.ts';
import { canDecodeToStereo } from '../sandbox/whitelist.ts';
import type { ProbedSource } from '../source/probe.ts';
import { TranscodeFailure } from '../transcode-failure.ts';

/**
 * The next plan after one failed because of a property of the source that the probe does not detect. The first alternative
 * lets the decoder mix to stereo, the second encodes all tracks instead of passthrough. Null if no alternative applies.
 */
export function nextPlan(
  plan: EncodePlan,
  source: ProbedSource,
  error: unknown,
  maxRates: MaxRates,
): { plan: EncodePlan; log: string } | null {
  const { audio } = plan;
  const decodeToStereo = source.audio !== null && canDecodeToStereo(source.audio.codec);
  if (audio && !audio.decodeToStereo && decodeToStereo && isAudioFormatChange(causeOf(error))) {
    return { plan: { ...plan, audio: { ...audio, decodeToStereo } }, log: 'transcode.audio_format_changed' };
  }
  if (hasPassthrough(plan) && isPassthroughFailure(error)) {
    const next = planEncoding(source, false, maxRates);
    const changesChannels = audio?.decodeToStereo ?? false;
    return {
      plan: { ...next, audio: next.audio && { ...next.audio, decodeToStereo: changesChannels } },
      log: 'transcode.passthrough_failed',
    };
  }
  return null;
}

function causeOf(error: unknown): unknown {
  return error instanceof TranscodeFailure ? error.cause : error;
}

/**
 * Whether passthrough may be the cause: ffmpeg could not copy a track, or a segment is invalid. The cause of a retryable
 * failure is in the engine, not in the source.
 */
function isPassthroughFailure(error: unknown): boolean {
  if (error instanceof TranscodeFailure && error.retryable) return false;
  const cause = causeOf(error);
  return cause instanceof InvalidSegmentError || (cause instanceof ToolError && cause.end === 'exit');
}
