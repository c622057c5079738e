import { z } from 'zod';
import type { StoredFiles } from './kinds.ts';
import { OUTPUTS } from './registry.ts';

/** The name of a kind of output. */
export type OutputName = keyof typeof OUTPUTS;

/** The kinds of the artifacts of outputs. */
export type OutputArtifact = (typeof OUTPUTS)[OutputName]['artifacts'][number];

const shape = Object.fromEntries(
  Object.entries(OUTPUTS).map(([name, { result }]) => [name, result.optional()]),
) as { [K in OutputName]: z.ZodOptional<(typeof OUTPUTS)[K]['result']> };

/** What a task has stored of each output. */
export const taskResultSchema = z.object(shape);
export type TaskResult = z.infer<typeof taskResultSchema>;

/** All files that a task has stored. */
export function storedFiles(result: TaskResult): StoredFiles<OutputArtifact>[] {
  const filesOf = <K extends OutputName>(name: K): StoredFiles<OutputArtifact>[] => {
    const { storedFiles } = OUTPUTS[name] as { storedFiles: (of: unknown) => StoredFiles<OutputArtifact>[] };
    return result[name] === undefined ? [] : storedFiles(result[name]);
  };
  return (Object.keys(OUTPUTS) as OutputName[]).flatMap(filesOf);
}
