import type { ImagesResult } from '@framelane/contracts/outputs/images';
import type { BesideRenditions } from '../kinds.ts';
import { storeImages } from './image-files.ts';
import { chainsBesideRenditions, imageTaps } from './image-filters.ts';
import { imageOutputs } from './image-options.ts';

/** The poster and the storyboard, made by the run that makes all renditions. */
export const IMAGES: BesideRenditions<ImagesResult> = {
  taps: imageTaps,
  chains: chainsBesideRenditions,
  files: imageOutputs,
  store: storeImages,
};
