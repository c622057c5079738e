import { encoderOfCodec } from '../encoders/encoders.ts';
import { copiedCodec, planEncoding } from '../plan/encode-plan.ts';
import type { PlanSettings } from '../plan/explained-plan.ts';
import { parameterSetsChange } from '../source/parameter-sets.ts';
import type { ProbedSource } from '../source/probe.ts';
import { checkDuration } from '../source/source-checks.ts';
import type { TranscodeJobContext } from './job-source.ts';
import type { PlannedSource } from './next-plan.ts';

/** The first plan. Reads the parameter sets only if everything else allows a stream copy: then ffmpeg reads the file once more. */
export async function planSource(
  source: ProbedSource,
  settings: PlanSettings,
  directory: string,
  { tools, settings: { limits }, signal }: TranscodeJobContext,
): Promise<PlannedSource> {
  const plan = planEncoding(source, { allowCopy: true, ...settings });
  if (settings.trim) checkDuration(plan.duration, limits.maxDurationSeconds);
  const codec = copiedCodec(plan);
  if (codec === null || plan.videoIndex === null) return { source, plan };
  const { configurationFilters: filters, framesMayConfigure: mayBeInFrames } = encoderOfCodec(codec);
  const track = { index: plan.videoIndex, filters, mayBeInFrames };
  const options = { program: tools.lightFfmpeg, cwd: directory, signal, limits };
  if (!(await parameterSetsChange(track, options))) return { source, plan };
  const changing = { ...source, gops: 'parameter_sets' } as const;
  return { source: changing, plan: planEncoding(changing, { allowCopy: true, ...settings }) };
}
