/** How the media of a segment is packed: what everything that stores, serves or lists segments has to know. */
export type Packaging = {
  /** Of the files and URLs of segments, without a dot. */
  extension: string;
  contentType: string;
  /** Bytes of a segment for each 100 bytes of media, at most. */
  bytesFor100: number;
  /** The timestamp of the first frame in segments, or of the beginning of sound alone, in units of 1/90,000 s. */
  startTimestamp: number;
  /** The name of the initialization section of a rendition, beside its segments in playlists. Null if each segment has its own. */
  initialization: string | null;
};

/** The packagings that engines can make: MPEG-2 transport streams, and fragmented MP4 (ISO/IEC 23000-19). */
export const PACKAGINGS = {
  // ffmpeg adds 1.4 s to the timestamps of transport streams.
  ts: {
    extension: 'ts',
    contentType: 'video/mp2t',
    bytesFor100: 110,
    startTimestamp: 1_026_000,
    initialization: null,
  },
  cmaf: {
    extension: 'm4s',
    contentType: 'video/mp4',
    bytesFor100: 110,
    startTimestamp: 900_000,
    initialization: 'init.mp4',
  },
} as const satisfies Record<string, Packaging>;
export type PackagingName = keyof typeof PACKAGINGS;

/** All packagings, the default first. */
export const PACKAGING_NAMES = Object.keys(PACKAGINGS) as [PackagingName, ...PackagingName[]];

/** The packaging that carries the codecs beside H.264: a transport stream cannot carry AV1. */
export const PACKAGING_OF_ALTERNATIVES: PackagingName = 'cmaf';

/** The name of segment `sequence` (0, 1, 2 …), beside the playlist of its rendition and in the object store. */
export function segmentName(sequence: number, packaging: PackagingName): string {
  return `${sequence}.${PACKAGINGS[packaging].extension}`;
}
