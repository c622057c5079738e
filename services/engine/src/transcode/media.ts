import { prepareMediaTools } from '../ffmpeg/media-tools.ts';
import { runClip } from '../outputs/clip-run.ts';
import { runDerivation, runTask } from '../outputs/run-task.ts';
import { runPlanning } from './planning-job.ts';

/** How an engine plans videos and makes their outputs. */
export type Media = {
  prepareTools: typeof prepareMediaTools;
  runPlanning: typeof runPlanning;
  runTask: typeof runTask;
  runDerivation: typeof runDerivation;
  runClip: typeof runClip;
};

/** What every engine uses; only the simulation has a model in its place. */
export const FFMPEG: Media = {
  prepareTools: prepareMediaTools,
  runPlanning,
  runTask,
  runDerivation,
  runClip,
};
