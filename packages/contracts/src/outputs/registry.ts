import { AUDIO } from './audio-task.ts';
import { COPY } from './copy-task.ts';
import { IMAGES, IMAGES_TASK } from './images.ts';
import { PIECE } from './piece-task.ts';
import { RENDITIONS_OUTPUT } from './renditions.ts';

/** Every kind of output. The compiler names what each service has to know about a new one. */
export const OUTPUTS = { renditions: RENDITIONS_OUTPUT, images: IMAGES };

/** Every kind of task that a plan can have. */
export const TASKS = { copy: COPY, audio: AUDIO, images: IMAGES_TASK, piece: PIECE };
