import type { VideoTrack } from '../source/media-source.ts';

/** How the numbers of a picture are to be read as colours: names of ffmpeg for the code points of ITU-T H.273. */
export type Colour = { matrix: string; primaries: string; transfer: string };

/** What is encoded, unless the top rung is the source's own. */
export const BT709: Colour = { matrix: 'bt709', primaries: 'bt709', transfer: 'bt709' };
const BT601: Colour = { matrix: 'smpte170m', primaries: 'smpte170m', transfer: 'smpte170m' };

/** Primaries other than BT.709's that zimg converts: those of BT.601, BT.2020, and P3 of cinemas and displays. */
const OTHER_PRIMARIES = ['bt470m', 'bt470bg', 'smpte170m', 'bt2020', 'smpte431', 'smpte432'];
/** Matrices of luma and chroma that zimg converts from. */
const YUV_MATRICES = ['bt709', 'smpte170m', 'bt470bg', 'bt2020nc', 'bt2020c'];

type Tags = Pick<VideoTrack, 'coded' | 'colorMatrix' | 'colorPrimaries' | 'colorTransfer'>;

/** Whether a track is tagged with primaries that have to be converted to BT.709's. */
export function hasOtherPrimaries(tags: Pick<Tags, 'colorMatrix' | 'colorPrimaries'>): boolean {
  const { colorMatrix, colorPrimaries } = tags;
  const isKnown = colorMatrix === null || colorMatrix === 'gbr' || YUV_MATRICES.includes(colorMatrix);
  return isKnown && colorPrimaries !== null && OTHER_PRIMARIES.includes(colorPrimaries);
}

/** The matrix of a picture in luma and chroma; that of BT.2020 where its primaries are and no matrix is named. */
export function yuvMatrix({
  colorMatrix,
  colorPrimaries,
}: Pick<Tags, 'colorMatrix' | 'colorPrimaries'>): string | null {
  if (colorMatrix === null) return colorPrimaries === 'bt2020' ? 'bt2020nc' : null;
  return YUV_MATRICES.includes(colorMatrix) ? colorMatrix : null;
}

/** Untagged video follows the standard of its size: BT.709 for high definition, BT.601 below. */
export function usualMatrix({ coded }: Pick<Tags, 'coded'>): 'bt601' | 'bt709' {
  return Math.min(coded.width, coded.height) >= 720 ? 'bt709' : 'bt601';
}

/** The colours of a track, with what the file does not say taken from the standard of its matrix. */
export function ownColour(tags: Tags): Colour {
  const { colorMatrix, colorPrimaries, colorTransfer } = tags;
  const matrix = colorMatrix ?? (usualMatrix(tags) === 'bt709' ? BT709 : BT601).matrix;
  const standard = matrix === 'bt709' ? BT709 : BT601;
  return {
    matrix,
    primaries: colorPrimaries ?? (matrix === 'bt470bg' ? matrix : standard.primaries),
    transfer: colorTransfer ?? standard.transfer,
  };
}
