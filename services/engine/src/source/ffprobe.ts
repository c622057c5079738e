import type { AudioOnlyRule } from '@framelane/contracts/internal-api';
import type { Analysis } from '@framelane/contracts/transcode-plan';
import { SOURCE_INPUT } from '../sandbox/job-folder.ts';
import { runTool } from '../sandbox/run-tool.ts';
import type { TranscodeLimits } from '../transcode-settings.ts';
import { analysisOptions } from './track-arrivals.ts';
import { probeOptions } from './whitelist.ts';

export type ProbeOptions = {
  /** The confined ffprobe. */
  program: string;
  /** The job's directory. */
  cwd: string;
  signal: AbortSignal;
  limits: Pick<TranscodeLimits, 'probeSeconds' | 'scanSeconds' | 'maxDurationSeconds'>;
  /** Whether sound alone is accepted. */
  audioOnly: AudioOnlyRule;
  /** Whether the video is a part of the source. The source may then last longer than a video. */
  isTrimmed?: boolean | undefined;
  /** ffmpeg's own if undefined. */
  analysis?: Analysis | undefined;
};

/** The options of ffprobe that limit what it reads, with the source of the job as its input. */
export function sourceArguments({ analysis, audioOnly }: ProbeOptions): string[] {
  const formats = probeOptions({ readsSound: audioOnly !== 'refused' });
  return [...formats, ...analysisOptions(analysis), '-i', SOURCE_INPUT];
}

/**
 * Runs ffprobe on the source of the job, with `args` for what it shows, and passes each line of its output to `onLine`.
 *
 * Throws as `runTool` does. `limitSeconds` is that of the probe unless it is given, `limitOutput` is in characters.
 */
export async function runFfprobe(
  options: ProbeOptions,
  args: readonly string[],
  run: { limitSeconds?: number; limitOutput: number; onLine: (line: string) => void },
): Promise<void> {
  const { program, cwd, signal, limits } = options;
  await runTool(program, ['-v', 'error', ...args, ...sourceArguments(options)], {
    cwd,
    signal,
    limitSeconds: limits.probeSeconds,
    ...run,
  });
}
