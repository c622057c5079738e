import type { VideoTrack } from './media-source.ts';

/** How the numbers of a picture are to be read as colours: names of ffmpeg for the code points of ITU-T H.273. */
export type Colour = { matrix: string; primaries: string; transfer: string };

/** What is encoded, unless the top rung is the source's own. */
export const BT709: Colour = { matrix: 'bt709', primaries: 'bt709', transfer: 'bt709' };
const BT601: Colour = { matrix: 'smpte170m', primaries: 'smpte170m', transfer: 'smpte170m' };

/** Primaries whose colours BT.709 cannot all show: BT.2020, and P3 of cinemas and displays. */
const WIDE_PRIMARIES = ['bt2020', 'smpte431', 'smpte432'];

type Tags = Pick<VideoTrack, 'coded' | 'colorMatrix' | 'colorPrimaries' | 'colorTransfer'>;

/** Whether a track has primaries that have to be converted. */
export function isWide({ colorPrimaries }: Pick<Tags, 'colorPrimaries'>): boolean {
  return WIDE_PRIMARIES.includes(colorPrimaries ?? '');
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
