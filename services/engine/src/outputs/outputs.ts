import type { OutputName, TaskResult } from '@framelane/contracts/outputs/outputs';
import type { DerivationName, DerivationOf, TaskName, TaskOf } from '@framelane/contracts/outputs/tasks';
import { DOWNLOAD } from './download/download-derivation.ts';
import { imagesOfClip } from './images/clip-images.ts';
import { IMAGES } from './images/images.ts';
import { IMAGES_TASK } from './images/images-task.ts';
import type { BesideRenditions, DerivationKind, OfClip, TaskKind } from './kinds.ts';
import { PICTURE } from './picture/picture-derivation.ts';
import { AUDIO } from './renditions/audio-task.ts';
import { CODEC_COPY } from './renditions/codec-copy-task.ts';
import { CODEC_PIECE } from './renditions/codec-piece-task.ts';
import { COPY } from './renditions/copy-task.ts';
import { PIECE } from './renditions/piece-task.ts';
import { TRANSCRIPT } from './transcript/transcript-derivation.ts';

/** Every kind of task. */
export const TASKS: { [K in TaskName]: TaskKind<TaskOf<K>> } = {
  copy: COPY,
  audio: AUDIO,
  images: IMAGES_TASK,
  piece: PIECE,
  codec_copy: CODEC_COPY,
  codec_piece: CODEC_PIECE,
};

/** How one run makes each kind of output beside the renditions. Null if only tasks of its own make it. */
export const BESIDE_RENDITIONS: {
  [K in Exclude<OutputName, 'renditions'>]: BesideRenditions<NonNullable<TaskResult[K]>> | null;
} = { images: IMAGES, download: null, picture: null, transcript: null };

/** How a clip gets each kind of output beside its renditions. Null if clips get it as other videos do. */
export const OF_CLIPS: {
  [K in Exclude<OutputName, 'renditions'>]: OfClip<NonNullable<TaskResult[K]>> | null;
} = { images: imagesOfClip, download: null, picture: null, transcript: null };

/** Every kind of derivation. */
export const DERIVATIONS: { [K in DerivationName]: DerivationKind<DerivationOf<K>> } = {
  download: DOWNLOAD,
  picture: PICTURE,
  transcript: TRANSCRIPT,
};
