import type { FfmpegCommandLine } from '../ffmpeg/run-ffmpeg.ts';
import { runFfmpeg } from '../ffmpeg/run-ffmpeg.ts';
import type { RunContext } from './stored-run.ts';

/** Runs ffmpeg on decrypted segments in the folder of a job, for some seconds of video. */
export async function runOnStored(
  commandLine: FfmpegCommandLine,
  { program, seconds }: { program: string; seconds: number },
  directory: string,
  { settings: { limits }, signal }: RunContext,
): Promise<void> {
  const { encodeSeconds, stallSeconds, memoryBytes } = limits;
  await runFfmpeg(commandLine, {
    program,
    cwd: directory,
    signal,
    limitSeconds: Math.min(encodeSeconds.fixed + encodeSeconds.perSecondOfVideo * seconds, encodeSeconds.max),
    stallSeconds,
    memoryBytes,
    progressKey: 'out_time_us',
    onProgress: () => {},
    mustPause: () => false,
  });
}
