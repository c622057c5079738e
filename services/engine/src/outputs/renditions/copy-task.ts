import type { TaskOf } from '@framelane/contracts/outputs/tasks';
import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import { type ArgumentSettings, partArguments } from '../../ffmpeg/arguments.ts';
import type { FfmpegCommandLine } from '../../ffmpeg/run-ffmpeg.ts';
import type { TaskKind } from '../kinds.ts';
import { runTracks } from './track-run.ts';

/** The top rendition of a long video, if it is a stream copy of the source. It is made first, in little time. */
export const COPY: TaskKind<TaskOf<'copy'>> = {
  plan: ({ encode }) => (encode.copiesVideo ? [{ task: { kind: 'copy' }, turn: -2 }] : []),
  run: (job, directory, context) => {
    const { encode, encoder } = job.plan;
    const part = { ...encode, videoRenditions: encode.videoRenditions.slice(-1), audio: [] };
    const commandLine = copyArguments(encode, { ...context.settings, ...encoder });
    return runTracks(job, part, commandLine, directory, context);
  },
  // Pieces count all seconds, if there are any.
  seconds: (_, { encode }) => (encode.videoRenditions.length === 1 ? encode.duration : 0),
};

/** The run that copies all video of the source as the top rendition. */
export function copyArguments(plan: EncodePlan, settings: ArgumentSettings): FfmpegCommandLine {
  return partArguments({ ...plan, videoRenditions: plan.videoRenditions.slice(-1), audio: [] }, [], settings);
}
