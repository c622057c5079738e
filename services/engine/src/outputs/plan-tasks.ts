import type { Task } from '@framelane/contracts/outputs/tasks';
import type { ReadyVideo, TaskKind, VideoToCut } from './kinds.ts';
import { TASKS } from './outputs.ts';

const KINDS = Object.values(TASKS) as TaskKind<Task>[];

/**
 * Cuts a video into tasks that engines can run in any order; null if it is transcoded in one run, because it is short or cannot be cut. A
 * video is long if it lasts more than two pieces.
 */
export function planTasks(video: VideoToCut): readonly Task[] | null {
  if (video.encode.duration <= 2 * video.pieceSeconds) return null;
  const planned = KINDS.map((kind) => kind.plan(video));
  if (planned.includes(null)) return null;
  return planned
    .flatMap((tasks) => tasks ?? [])
    .toSorted((a, b) => a.turn - b.turn)
    .map(({ task }) => task);
}

/** The tasks of outputs that a video does not wait for (see `TaskKind.planOptional`). */
export function planOptionalTasks(video: ReadyVideo): Task[] {
  return KINDS.flatMap((kind) => kind.planOptional?.(video) ?? []);
}
