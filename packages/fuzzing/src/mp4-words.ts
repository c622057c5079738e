import { box, fullBox } from '@framelane/engine/packagers/cmaf/boxes';

const TYPES = [
  'ftyp',
  'moov',
  'mvhd',
  'trak',
  'tkhd',
  'edts',
  'elst',
  'mdia',
  'mdhd',
  'hdlr',
  'minf',
  'stbl',
  'stsd',
  'mvex',
  'trex',
  'moof',
  'mfhd',
  'traf',
  'tfhd',
  'tfdt',
  'trun',
  'mdat',
  'avc1',
  'avcC',
  'hvcC',
  'av1C',
  'esds',
  'colr',
  'free',
  'udta',
  'btrt',
];
/** Words of MP4. */
export const BOXES = [
  ...TYPES.map((type) => box(type)),
  ...TYPES,
  'vide',
  'soun',
  Buffer.alloc(4),
  Buffer.of(0, 0, 0, 1),
  Buffer.alloc(8, 0xff),
];

export const MOVIE_HEADER = fullBox('mvhd', 0, [0, 0, 1000, 5000]);
export const MEDIA_HEADER = fullBox('mdhd', 0, [0, 0, 90_000, 450_000]);
export const TRACK_HEADER = fullBox('tkhd', 7, [0, 0, 1, 0, 5000]);
