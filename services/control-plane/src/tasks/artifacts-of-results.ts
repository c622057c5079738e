import { storedFiles, type TaskResult } from '@framelane/contracts/outputs/outputs';
import { revised, taskFolder } from '@framelane/object-store/object-keys';
import type { Artifact } from '../artifacts/artifacts.service.ts';

/** The artifacts of results of tasks of one attempt. `revision` is that of its plan. */
export function artifactsOf(
  { attempt, revision }: { attempt: number; revision: number },
  results: readonly { task: number; try: number; result: TaskResult }[],
): Artifact[] {
  return results.flatMap(({ task, try: tryNumber, result }) => {
    const folder = revised(taskFolder(task, tryNumber), revision);
    return storedFiles(result).map((files) => ({ ...files, attempt, folder }));
  });
}
