import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import type { Task } from '@framelane/contracts/outputs/tasks';
import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import type { FfmpegCommandLine } from '../../ffmpeg/run-ffmpeg.ts';
import type { TaskJob } from '../kinds.ts';
import {
  maxSegments,
  namesOf,
  noOthers,
  type RunContext,
  runAndStore,
  secondsRead,
  timeProgress,
} from '../stored-run.ts';
import { describeStored } from './describe-stored.ts';

/** Makes some renditions of a plan, from beginning to end. `part` is the plan with these renditions alone. */
export async function runTracks(
  { plan, output }: TaskJob<Task>,
  part: EncodePlan,
  commandLine: FfmpegCommandLine,
  directory: string,
  context: RunContext,
): Promise<TaskResult> {
  const { encode } = plan;
  const { stored } = await runAndStore(
    {
      output,
      commandLine,
      seconds: secondsRead(encode),
      progress: timeProgress(encode),
      segments: {
        renditions: namesOf([...part.videoRenditions, ...part.audio]),
        iFramesOf: null,
        maxSegments: maxSegments(plan),
      },
      storeOthers: noOthers,
    },
    encode,
    directory,
    context,
  );
  return { renditions: describeStored(part, stored, { firstFrame: 0, frames: encode.frames }) };
}
