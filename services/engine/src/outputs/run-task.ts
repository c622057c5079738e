import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import type { Derivation, Task } from '@framelane/contracts/outputs/tasks';
import type { TaskPlan } from '@framelane/contracts/transcode-plan';
import type { DerivationJob, DerivationKind, TaskJob, TaskKind } from './kinds.ts';
import { DERIVATIONS, TASKS } from './outputs.ts';
import type { RunContext } from './stored-run.ts';

function kindOf({ kind }: Task): TaskKind<Task> {
  return TASKS[kind] as TaskKind<Task>;
}

/** Runs one task (see `TaskKind.run`). */
export function runTask(job: TaskJob<Task>, directory: string, context: RunContext): Promise<TaskResult> {
  return kindOf(job.work).run(job, directory, context);
}

function derivationOf({ kind }: Derivation): DerivationKind<Derivation> {
  return DERIVATIONS[kind] as DerivationKind<Derivation>;
}

/** Runs one derivation (see `DerivationKind.run`). */
export function runDerivation(
  job: DerivationJob<Derivation>,
  directory: string,
  context: RunContext,
): Promise<TaskResult> {
  return derivationOf(job.work).run(job, directory, context);
}

/** The bytes of disk that a derivation needs (see `DerivationKind.diskNeed`). */
export function diskNeedOf(work: Derivation, inputBytes: number, duration: number): number {
  return derivationOf(work).diskNeed(inputBytes, duration);
}

/** Seconds of video that count as transcoded when a task is done. */
export function secondsOf(work: Task, plan: TaskPlan): number {
  return kindOf(work).seconds(work, plan);
}
