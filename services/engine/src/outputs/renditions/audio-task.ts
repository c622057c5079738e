import type { TaskOf } from '@framelane/contracts/outputs/tasks';
import { type EncodePlan, isSoundAlone } from '@framelane/contracts/transcode-plan';
import { type ArgumentSettings, partArguments, withFileTimes } from '../../ffmpeg/arguments.ts';
import { audioGraphs } from '../../ffmpeg/filter-graph.ts';
import type { FfmpegCommandLine } from '../../ffmpeg/run-ffmpeg.ts';
import type { TaskKind } from '../kinds.ts';
import { runTracks } from './track-run.ts';

/** All audio renditions of a long video. Encoding audio takes little time, and a preview needs it from the start. */
export const AUDIO: TaskKind<TaskOf<'audio'>> = {
  plan: ({ encode }) => (encode.audio.length > 0 ? [{ task: { kind: 'audio' }, turn: -1 }] : []),
  run: (job, directory, context) => {
    const { encode, encoder } = job.plan;
    const commandLine = audioArguments(encode, { ...context.settings, ...encoder });
    return runTracks(job, { ...encode, videoRenditions: [] }, commandLine, directory, context);
  },
  // Beside video, pieces count all seconds.
  seconds: (_, { encode }) => (isSoundAlone(encode) ? encode.duration : 0),
};

/** The run that produces all audio renditions. */
export function audioArguments(plan: EncodePlan, settings: ArgumentSettings): FfmpegCommandLine {
  const part = { ...plan, videoRenditions: [], copiesVideo: false };
  return partArguments(part, audioGraphs(withFileTimes(part)), settings);
}
