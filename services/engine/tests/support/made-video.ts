import { joinManifest } from '@framelane/contracts/joined-manifest';
import type { Manifest } from '@framelane/contracts/manifest';
import type { ImagesResult } from '@framelane/contracts/outputs/images';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';

/** What the tasks of a video have made: its manifest and its images. */
export type MadeVideo = Manifest & ImagesResult;

/** Joins the results of all tasks of a plan. */
export function madeVideo(
  plan: Parameters<typeof joinManifest>[0],
  results: readonly TaskResult[],
): MadeVideo {
  const images = results.find((result) => result.images !== undefined)?.images;
  return { ...joinManifest(plan, results), poster: null, storyboard: null, ...images };
}
