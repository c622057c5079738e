import type { z } from 'zod';
import type { RenditionName, TrackRendition } from '../renditions.ts';

/** Files that a task has stored: one, or the segments of a rendition from `firstSegment` on. */
export type StoredFiles<K extends string> = {
  kind: K;
  /** Of the rendition. Absent if a video has one such file. */
  name?: string;
  firstSegment?: number;
  bytes: number;
};

/** A kind of output, as all services know it. Engines make it with tasks. */
export type OutputKind<R extends z.ZodType, K extends string> = {
  /** What the result of a task says about it. */
  result: R;
  /** The kinds of the artifacts that it consists of. */
  artifacts: readonly K[];
  /** The files of a result. Each becomes an artifact of the video. */
  storedFiles: (result: z.infer<R>) => StoredFiles<K>[];
};

/** A segment that a plan has. */
export type PlannedSegment = {
  rendition: RenditionName;
  sequence: number;
  /** Whether the rendition is a stream copy of the video of the source. */
  isCopy: boolean;
};

/** A kind of task, as all services know it. */
export type TaskKind<W extends z.ZodType> = {
  /** What the plan says about the task. Its `kind` is the name of the kind. */
  work: W;
  /** Its part of the work on a video, in frames of the top rendition. `frames` are those of the video. */
  weight: (work: z.infer<W>, frames: number) => number;
  /** Whether the task makes a segment. Players of a preview wait for the latest try of that task. */
  makes: (work: z.infer<W>, segment: PlannedSegment) => boolean;
  /** Whether a video can be ready without the output of the task. Then the task may go on after that. */
  mayBeOptional: boolean;
};

/** The types of the commands that announce derivations. Each has a queue of its own. */
export const DERIVATION_COMMANDS = ['derive', 'picture', 'transcribe'] as const;
export type DerivationCommand = (typeof DERIVATION_COMMANDS)[number];

/** Segments of a rendition, or all of it. */
export type RenditionPart = { rendition: TrackRendition; segments?: { first: number; count: number } };

/** A kind of derivation, as all services know it. */
export type DerivationKind<W extends z.ZodType> = {
  /** The type of the command that announces it. */
  command: DerivationCommand;
  /** What is to be made. Its `kind` is the name of the kind. */
  work: W;
  /** What it is made from. */
  reads: (work: z.infer<W>) => readonly RenditionPart[];
};

/** The weight of a task that encodes no video: about a fiftieth of that of encoding all video. */
export function lightWork(_: unknown, frames: number): number {
  return Math.ceil(0.02 * frames);
}
