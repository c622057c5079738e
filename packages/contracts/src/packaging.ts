/** How the media of a segment is packed: what everything that stores, serves or lists segments has to know. */
export type Packaging = {
  /** Of the files and URLs of segments, without a dot. */
  extension: string;
  contentType: string;
  /** Bytes of a segment for each 100 bytes of media, at most. */
  bytesFor100: number;
};

/** The packagings that engines can make. */
export const PACKAGINGS = {
  'mpeg-ts': { extension: 'ts', contentType: 'video/mp2t', bytesFor100: 110 },
} as const satisfies Record<string, Packaging>;
export type PackagingName = keyof typeof PACKAGINGS;

/** The packaging of all segments. */
export const SEGMENT_PACKAGING: PackagingName = 'mpeg-ts';
export const SEGMENTS: Packaging = PACKAGINGS[SEGMENT_PACKAGING];

/** The name of segment `sequence` (0, 1, 2 …), beside the playlist of its rendition and in the object store. */
export function segmentName(sequence: number): string {
  return `${sequence}.${SEGMENTS.extension}`;
}
