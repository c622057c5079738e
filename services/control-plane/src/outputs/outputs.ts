import type { OutputName, TaskResult } from '@framelane/contracts/outputs/outputs';
import type { Database } from '../db/database.ts';
import type { VideoRow } from '../db/schema.ts';
import { addImages } from './images.store.ts';

/** Stores what a video has to know of an output beside its artifacts. The video is ready, and locked. */
export type AddOutput<R> = (trx: Database, video: VideoRow, result: R) => Promise<void>;

/** How each output is added to a ready video. Those of renditions are stored when the video becomes ready. */
const ADD: { [K in Exclude<OutputName, 'renditions'>]: AddOutput<NonNullable<TaskResult[K]>> } = {
  images: addImages,
};

/** Adds the outputs that a task has stored to a ready video, which is locked. */
export async function addOutputs(trx: Database, video: VideoRow, result: TaskResult): Promise<void> {
  for (const [name, add] of Object.entries(ADD) as [keyof typeof ADD, AddOutput<unknown>][])
    if (result[name] !== undefined) await add(trx, video, result[name]);
}
