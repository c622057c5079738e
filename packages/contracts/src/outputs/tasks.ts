import { z } from 'zod';
import type { AlternativeCodec } from '../renditions.ts';
import type { DerivationCommand, PlannedSegment, RenditionPart } from './kinds.ts';
import { DERIVATIONS, TASKS } from './registry.ts';

/** The name of a kind of task that a plan can have. */
export type TaskName = keyof typeof TASKS;

/** A task of a plan, by the name of its kind. */
export type TaskOf<K extends TaskName> = z.infer<(typeof TASKS)[K]['work']>;
export type Task = TaskOf<TaskName>;

/** A task of a plan. */
export const taskSchema: z.ZodType<Task> = z.discriminatedUnion('kind', [
  ...Object.values(TASKS).map(({ work }) => work),
] as unknown as [(typeof TASKS)[TaskName]['work']]);

/** A task that a video does not wait for. */
export const optionalTaskSchema = taskSchema.refine(({ kind }) => TASKS[kind].mayBeOptional, {
  error: 'A video cannot be ready without the output of this task',
});

/** The part of a task in the work on a video of that many frames, in frames of the top rendition. */
export function weightOf(task: Task, frames: number): number {
  const { weight } = TASKS[task.kind] as { weight: (work: Task, frames: number) => number };
  return weight(task, frames);
}

/** Whether a task makes a segment. */
export function makesSegment(task: Task, segment: PlannedSegment): boolean {
  const { makes } = TASKS[task.kind] as { makes: (work: Task, segment: PlannedSegment) => boolean };
  return makes(task, segment);
}

/** The name of a kind of derivation. */
export type DerivationName = keyof typeof DERIVATIONS;

/** A derivation, by the name of its kind. */
export type DerivationOf<K extends DerivationName> = z.infer<(typeof DERIVATIONS)[K]['work']>;
export type Derivation = DerivationOf<DerivationName>;

/** A derivation. */
export const derivationSchema: z.ZodType<Derivation> = z.discriminatedUnion('kind', [
  ...Object.values(DERIVATIONS).map(({ work }) => work),
] as unknown as [(typeof DERIVATIONS)[DerivationName]['work']]);

/** What any task except the first one of an attempt is to do. */
export type Work = Task | Derivation;

/** The codec of the renditions that a task makes beside those of H.264; null if it makes none. */
export function alternativeOf(work: Work | null): AlternativeCodec | null {
  return work !== null && 'codec' in work ? work.codec : null;
}

export function isDerivation(work: Work): work is Derivation {
  return work.kind in DERIVATIONS;
}

/** The parts of renditions that a derivation is made from. */
export function partsFor(work: Derivation): readonly RenditionPart[] {
  const { reads } = DERIVATIONS[work.kind] as { reads: (work: Derivation) => readonly RenditionPart[] };
  return reads(work);
}

/** The type of the command that announces a derivation. */
export function commandFor(work: Derivation): DerivationCommand {
  return DERIVATIONS[work.kind].command;
}

/**
 * The kinds of all tasks. The first task of an attempt is of the kind `plan`. If its plan has no further tasks, it becomes `whole`: the
 * engine goes on and makes all outputs that the video needs. An attempt at a clip has one task, of the kind `clip`.
 */
export const TASK_KINDS = [
  'plan',
  'whole',
  'clip',
  ...(Object.keys(TASKS) as TaskName[]),
  ...(Object.keys(DERIVATIONS) as DerivationName[]),
] as const;
export type TaskKind = (typeof TASK_KINDS)[number];

/** The number of the task that plans an attempt, or makes a clip. The tasks of the plan follow in its order, the optional ones last. */
export const PLANNING_TASK = 0;

/** The number of a task of a plan, from its position among all its tasks. */
export function taskNumber(position: number): number {
  return PLANNING_TASK + 1 + position;
}
