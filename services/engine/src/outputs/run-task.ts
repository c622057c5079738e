import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import type { Task } from '@framelane/contracts/outputs/tasks';
import type { TaskPlan } from '@framelane/contracts/transcode-plan';
import type { TaskJob, TaskKind } from './kinds.ts';
import { TASKS } from './outputs.ts';
import type { RunContext } from './stored-run.ts';

function kindOf({ kind }: Task): TaskKind<Task> {
  return TASKS[kind] as TaskKind<Task>;
}

/** Runs one task (see `TaskKind.run`). */
export function runTask(job: TaskJob<Task>, directory: string, context: RunContext): Promise<TaskResult> {
  return kindOf(job.work).run(job, directory, context);
}

/** Seconds of video that count as transcoded when a task is done. */
export function secondsOf(work: Task, plan: TaskPlan): number {
  return kindOf(work).seconds(work, plan);
}
