import type { TaskResult } from '@framelane/contracts/transcode-plan';
import { revised, taskFolder } from '@framelane/object-store/object-keys';
import type { Artifact } from '../artifacts/artifacts.service.ts';

/** The artifacts of a completed attempt, from the revision of its plan and the results of its tasks. */
export function artifactsOf(
  { attempt, revision }: { attempt: number; revision: number },
  results: readonly { task: number; try: number; result: TaskResult }[],
): Artifact[] {
  return results.flatMap(({ task, try: tryNumber, result: { renditions, images } }): Artifact[] => {
    const place = { attempt, folder: revised(taskFolder(task, tryNumber), revision) };
    return [
      ...renditions.map(({ name, first, segments }) => ({
        kind: 'segments' as const,
        name,
        firstSegment: first,
        ...place,
        bytes: segments.reduce((sum, { bytes }) => sum + bytes, 0),
      })),
      ...(images?.poster ? [{ kind: 'poster' as const, ...place, bytes: images.poster.bytes }] : []),
      ...(images?.storyboard
        ? [{ kind: 'storyboard' as const, ...place, bytes: images.storyboard.bytes }]
        : []),
    ];
  });
}
