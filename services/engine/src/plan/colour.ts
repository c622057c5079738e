import type { Colour } from '@framelane/contracts/transcode-plan';
import type { VideoTrack } from '../source/media-source.ts';

/** The colour of all renditions, unless the top rendition is a stream copy. */
export const BT709: Colour = { matrix: 'bt709', primaries: 'bt709', transfer: 'bt709' };
const BT601 = { matrix: 'smpte170m', transfer: 'smpte170m' };

/** Primaries other than BT.709 that zimg converts: BT.601, BT.2020, and P3 of cinemas and displays. */
const OTHER_PRIMARIES = ['bt470m', 'bt470bg', 'smpte170m', 'bt2020', 'smpte431', 'smpte432'];
/** YUV matrices that zimg converts. */
const YUV_MATRICES = ['bt709', 'smpte170m', 'bt470bg', 'bt2020nc', 'bt2020c'];

type Tags = Pick<VideoTrack, 'coded' | 'colorMatrix' | 'colorPrimaries' | 'colorTransfer'>;

/** Whether a track is tagged with primaries that must be converted to BT.709. */
export function hasOtherPrimaries(tags: Pick<Tags, 'colorMatrix' | 'colorPrimaries'>): boolean {
  const { colorMatrix, colorPrimaries } = tags;
  const isKnown = colorMatrix === null || colorMatrix === 'gbr' || YUV_MATRICES.includes(colorMatrix);
  return isKnown && colorPrimaries !== null && OTHER_PRIMARIES.includes(colorPrimaries);
}

/** The YUV matrix of a video; null if it has none or an unknown one. Without a matrix tag, BT.2020 primaries imply the BT.2020 matrix. */
export function yuvMatrix({
  colorMatrix,
  colorPrimaries,
}: Pick<Tags, 'colorMatrix' | 'colorPrimaries'>): string | null {
  if (colorMatrix === null) return colorPrimaries === 'bt2020' ? 'bt2020nc' : null;
  return YUV_MATRICES.includes(colorMatrix) ? colorMatrix : null;
}

/** The matrix of untagged video, by the standard of its size: BT.709 for high definition, BT.601 below. */
export function usualMatrix({ coded }: Pick<Tags, 'coded'>): 'bt601' | 'bt709' {
  return Math.min(coded.width, coded.height) >= 720 ? 'bt709' : 'bt601';
}

/** The colour of a copied track. Missing tags follow the standard of its matrix, whose primaries have the same name. */
export function ownColour(tags: Tags): Colour {
  const { colorMatrix, colorPrimaries, colorTransfer } = tags;
  const matrix = colorMatrix ?? (usualMatrix(tags) === 'bt709' ? BT709 : BT601).matrix;
  const { transfer } = matrix === 'bt709' ? BT709 : BT601;
  return { matrix, primaries: colorPrimaries ?? matrix, transfer: colorTransfer ?? transfer };
}
