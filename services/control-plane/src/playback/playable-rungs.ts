import type { StartedRenditions } from '@framelane/contracts/outputs/renditions';
import { weightOf } from '@framelane/contracts/outputs/tasks';
import { partsOf, RUNGS, type RungName, type VideoRendition } from '@framelane/contracts/renditions';
import type { PlannedVideo } from './planned-renditions.ts';

/** The state of a task. */
export type TaskProgress = {
  /** 0..1 */
  progress: number;
  isDone: boolean;
  /** Seconds since an engine began the task; null if no engine works on it. */
  runningSeconds: number | null;
  startedRenditions: StartedRenditions;
};

/** Factor by which engines may become slower before a viewer who starts now has to wait. */
const HEADROOM = 1.05;

/** Whether the first segment of each audio rendition is stored. */
export function hasAudioStarted(
  { encode }: Pick<PlannedVideo, 'encode'>,
  tasks: readonly Pick<TaskProgress, 'startedRenditions'>[],
): boolean {
  return encode.audio.every(({ name }) => tasks.some((task) => task.startedRenditions[name] !== undefined));
}

/**
 * The rungs that a viewer can play now without overtaking the engines; empty if playback would overtake them in each
 * rendition. Copying the source and encoding audio are many times faster than playback.
 *
 * @param tasks the states of the tasks, in the order of the plan; of one task if the plan has none
 */
export function playableRungs(
  { encode, tasks: planned }: Pick<PlannedVideo, 'encode' | 'tasks'>,
  tasks: readonly TaskProgress[],
): RungName[] {
  const started: StartedRenditions = Object.assign({}, ...tasks.map((task) => task.startedRenditions));
  if (!hasAudioStarted({ encode }, tasks)) return [];
  const isWhole = planned.length === 0;
  // The one run of a whole video copies no faster than it encodes.
  const copied = encode.copiesVideo && !isWhole ? encode.videoRenditions.at(-1)?.name : undefined;
  const rate = encode.frameRate.numerator / encode.frameRate.denominator;
  const works = tasks.map((progress, at): Work => {
    const task = planned[at];
    const frames = task === undefined ? encode.frames : weightOf(task, encode.frames);
    return { ...progress, seconds: frames / rate, isPlayed: task === undefined || 'frames' in task };
  });
  const isAhead = keepsAhead(works);
  const isPlayable = (name: VideoRendition) => started[name] !== undefined && (name === copied || isAhead);
  return RUNGS.filter((rung) => {
    const names = encode.videoRenditions
      .map(({ name }) => name)
      .filter((name) => partsOf(name).rung === rung);
    return names.length > 0 && names.every(isPlayable);
  });
}

/** A task, as work for engines. */
type Work = Omit<TaskProgress, 'startedRenditions'> & {
  /** Seconds of video that are encoded in the same time. */
  seconds: number;
  /** Whether viewers play these seconds: it is a piece, or the whole video. */
  isPlayed: boolean;
};

/**
 * Whether engines would begin every piece before a viewer who starts now reaches it, and complete it before the viewer reaches its
 * end. Assumes that engines keep running as many tasks at a time, that each task that waits is done at the average speed of pieces so far, less
 * the headroom, and that tasks begin in order.
 */
function keepsAhead(works: readonly Work[]): boolean {
  const pieces = works.filter(({ isPlayed }) => isPlayed);
  const running = pieces.filter(({ runningSeconds }) => runningSeconds !== null);
  const elapsed = running.reduce((sum, { runningSeconds }) => sum + (runningSeconds ?? 0), 0);
  const encoded = running.reduce((sum, { progress, seconds }) => sum + progress * seconds, 0);
  if (encoded === 0) return pieces.every(({ isDone }) => isDone);
  const speed = encoded / elapsed / HEADROOM;
  /** When each of the running tasks will end, in seconds from now. Then the next task begins. */
  const ends = works.flatMap((work) => (work.runningSeconds === null ? [] : [secondsLeft(work, speed)]));
  let position = 0;
  for (const work of works) {
    const { seconds, isDone, isPlayed, runningSeconds } = work;
    let [begin, end] = [0, 0];
    if (runningSeconds !== null) end = secondsLeft(work, speed);
    else if (!isDone) {
      begin = Math.min(...ends);
      end = begin + seconds / speed;
      ends[ends.indexOf(begin)] = end;
    }
    if (!isPlayed) continue;
    if (begin > position || end > position + seconds) return false;
    position += seconds;
  }
  return true;
}

/** The seconds until a running task ends: a piece at the speed of all pieces, another one at its own speed so far. */
function secondsLeft({ progress, seconds, isPlayed, runningSeconds }: Work, speed: number): number {
  if (isPlayed) return ((1 - progress) * seconds) / speed;
  const elapsed = runningSeconds ?? 0;
  return progress > 0 ? (elapsed * (1 - progress)) / progress : elapsed;
}
