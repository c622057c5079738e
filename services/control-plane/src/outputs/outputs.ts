import type { OutputName, TaskResult } from '@framelane/contracts/outputs/outputs';
import type { Database } from '../db/database.ts';
import type { VideoRow } from '../db/schema.ts';
import { addImages } from './images.store.ts';

/** Stores what a video has to know of an output beside its artifacts. The video is locked. */
type AddOutput<R> = (trx: Database, video: VideoRow, result: R) => Promise<void>;

/**
 * How each output is added to its video; null if its artifacts say all. The renditions of all tasks are joined when the video becomes ready.
 */
const ADD: { [K in Exclude<OutputName, 'renditions'>]: AddOutput<NonNullable<TaskResult[K]>> | null } = {
  images: addImages,
};

/** Adds the outputs that a task has stored to its video, which is locked and becomes ready, or is. */
export async function addOutputs(trx: Database, video: VideoRow, result: TaskResult): Promise<void> {
  for (const [name, add] of Object.entries(ADD) as [keyof typeof ADD, AddOutput<unknown> | null][])
    if (result[name] !== undefined) await add?.(trx, video, result[name]);
}
