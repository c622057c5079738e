import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import type { Task } from '@framelane/contracts/outputs/tasks';
import type { VideoRendition } from '@framelane/contracts/renditions';
import type { EncodePlan, TaskPlan } from '@framelane/contracts/transcode-plan';
import type { FfmpegCommandLine } from '../../ffmpeg/run-ffmpeg.ts';
import { iFrameSource } from '../../plan/encode-plan.ts';
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
  const { encode, iFrames } = plan;
  const { stored } = await runAndStore(
    {
      output,
      commandLine,
      seconds: secondsRead(encode),
      progress: timeProgress(encode),
      segments: {
        renditions: namesOf([...part.videoRenditions, ...part.audio]),
        iFramesOf: iFrames ? ownIFrameSource(plan, part) : null,
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

/** The rendition whose I-frames are stored, if the run makes it: a long video may have no other than its copy. */
function ownIFrameSource({ encode }: TaskPlan, { videoRenditions }: EncodePlan): VideoRendition | null {
  const source = iFrameSource(encode.videoRenditions);
  return videoRenditions.some(({ name }) => name === source) ? source : null;
}
