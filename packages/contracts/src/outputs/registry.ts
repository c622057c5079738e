import { AUDIO } from './audio-task.ts';
import { CODEC_COPY } from './codec-copy-task.ts';
import { CODEC_PIECE } from './codec-piece-task.ts';
import { COPY } from './copy-task.ts';
import { DOWNLOAD, DOWNLOAD_DERIVATION } from './download.ts';
import { IMAGES, IMAGES_TASK } from './images.ts';
import { PICTURE, PICTURE_DERIVATION } from './picture.ts';
import { PIECE } from './piece-task.ts';
import { RENDITIONS_OUTPUT } from './renditions.ts';
import { TRANSCRIPT, TRANSCRIPT_DERIVATION } from './transcript.ts';

/** Every kind of output. The compiler names what each service has to know about a new one. */
export const OUTPUTS = {
  renditions: RENDITIONS_OUTPUT,
  images: IMAGES,
  download: DOWNLOAD,
  picture: PICTURE,
  transcript: TRANSCRIPT,
};

/** Every kind of task that a plan can have. */
export const TASKS = {
  copy: COPY,
  audio: AUDIO,
  images: IMAGES_TASK,
  piece: PIECE,
  codec_copy: CODEC_COPY,
  codec_piece: CODEC_PIECE,
};

/** Every kind of derivation: a task that a client asks for, and that reads stored renditions of a ready video instead of its source. */
export const DERIVATIONS = {
  download: DOWNLOAD_DERIVATION,
  picture: PICTURE_DERIVATION,
  transcript: TRANSCRIPT_DERIVATION,
};
