import type { StartedRenditions } from '@framelane/contracts/outputs/renditions';
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
  if (encode.audio.some(({ name }) => started[name] === undefined)) return [];
  const isWhole = planned.length === 0;
  // The one run of a whole video copies no faster than it encodes.
  const copied = encode.copiesVideo && !isWhole ? encode.videoRenditions.at(-1)?.name : undefined;
  const rate = encode.frameRate.numerator / encode.frameRate.denominator;
  const pieces = tasks.flatMap((progress, at) => {
    const task = isWhole ? encode : planned[at];
    return task !== undefined && 'frames' in task ? [{ ...progress, seconds: task.frames / rate }] : [];
  });
  const isPiece = (at: number) => 'frames' in (planned[at] ?? {});
  const lastPiece = planned.findLastIndex((_, at) => isPiece(at));
  const others = isWhole ? [] : tasks.filter((_, at) => !isPiece(at));
  // The duration of a task that has not started is unknown, and the pieces after it wait for it.
  const haveStarted = tasks.every(
    ({ isDone, runningSeconds }, at) => isDone || runningSeconds !== null || at > lastPiece || isPiece(at),
  );
  const isAhead = haveStarted && keepsAhead(pieces, others.flatMap(secondsLeft));
  const isPlayable = (name: VideoRendition) => started[name] !== undefined && (name === copied || isAhead);
  return RUNGS.filter((rung) => {
    const names = encode.videoRenditions
      .map(({ name }) => name)
      .filter((name) => partsOf(name).rung === rung);
    return names.length > 0 && names.every(isPlayable);
  });
}

type Piece = Omit<TaskProgress, 'startedRenditions'> & { seconds: number };

/** The seconds until a running task ends, at its speed so far; empty if it is not running. */
function secondsLeft({ progress, runningSeconds }: TaskProgress): number[] {
  if (runningSeconds === null) return [];
  return [progress > 0 ? (runningSeconds * (1 - progress)) / progress : runningSeconds];
}

/**
 * Whether engines would begin every piece before a viewer who starts now reaches it, and complete it before the viewer reaches its
 * end. Assumes that engines keep running as many tasks at a time, that each piece is encoded at the average speed so far, less the
 * headroom, and that pieces begin in order.
 *
 * @param others when the other running tasks will end, in seconds from now
 */
function keepsAhead(pieces: readonly Piece[], others: readonly number[]): boolean {
  const running = pieces.filter(({ runningSeconds }) => runningSeconds !== null);
  const elapsed = running.reduce((sum, { runningSeconds }) => sum + (runningSeconds ?? 0), 0);
  const encoded = running.reduce((sum, { progress, seconds }) => sum + progress * seconds, 0);
  if (encoded === 0) return pieces.every(({ isDone }) => isDone);
  const speed = encoded / elapsed / HEADROOM;
  /** When each of the running tasks will end. Then the next piece begins. */
  const ends = [...running.map(({ progress, seconds }) => ((1 - progress) * seconds) / speed), ...others];
  let position = 0;
  for (const piece of pieces) {
    const { seconds, isDone, runningSeconds, progress } = piece;
    let end = 0;
    if (runningSeconds !== null) end = ((1 - progress) * seconds) / speed;
    else if (!isDone) {
      const begin = Math.min(...ends);
      end = begin + seconds / speed;
      ends[ends.indexOf(begin)] = end;
      if (begin > position) return false;
    }
    if (end > position + seconds) return false;
    position += seconds;
  }
  return true;
}
