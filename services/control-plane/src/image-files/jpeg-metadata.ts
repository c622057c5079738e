/** Markers of JPEG (ITU-T T.81, table B.1): the second byte, after 0xff. */
const MARKER = { end: 0xd9, scan: 0xda, app0: 0xe0, app1: 0xe1, app2: 0xe2, app14: 0xee };

/** The frames that browsers show: baseline, extended and progressive. */
const FRAMES = [0xc0, 0xc1, 0xc2];

/** The tag of the orientation in EXIF. */
const ORIENTATION = 0x0112;
/** The orientation of an image that is shown as it is stored. */
const UPRIGHT = 1;

/** Real images have some dozens. */
const MAX_SEGMENTS = 1000;

/** The longest part of the JFIF and Adobe segments that describes the image; JFIF can contain a preview after it. */
const JFIF_BYTES = 16;
const ADOBE_BYTES = 14;

/** A segment: the marker, what follows its length, and all its bytes. Those of a scan include the coded data. */
type Segment = { marker: number; payload: Buffer; bytes: Buffer };

/**
 * A JPEG image without what is not needed to show it: EXIF (the place where a photo was taken, for example), XMP, comments, previews, and
 * whatever follows the image. The colour profile and the orientation stay. Undefined if the segments are damaged, or the image has no
 * frame before its coded data. The work is linear.
 */
export function withoutMetadata(image: Buffer): Buffer | undefined {
  const segments = segmentsOf(image);
  const scan = segments?.findIndex(({ marker }) => marker === MARKER.scan) ?? -1;
  const header = scan === -1 ? segments : segments?.slice(0, scan);
  if (segments === undefined || !header?.some(({ marker }) => FRAMES.includes(marker))) return undefined;
  const kept = segments.flatMap((segment) => keptPart(segment) ?? []);
  const exif = header.find(({ marker, payload }) => marker === MARKER.app1 && isExif(payload));
  const orientation = exif && orientationOf(exif.payload);
  const start = image.subarray(0, 2);
  if (orientation === undefined || orientation === UPRIGHT) return Buffer.concat([start, ...kept]);
  // JFIF must be the first segment if it is there.
  const at = kept[0]?.[1] === MARKER.app0 ? 1 : 0;
  return Buffer.concat([start, ...kept.toSpliced(at, 0, orientationSegment(orientation))]);
}

/** The segments to the end of the image; undefined if one is damaged, or if there are too many. */
function segmentsOf(image: Buffer): Segment[] | undefined {
  const segments: Segment[] = [];
  let position = nextMarker(image, 2);
  while (position < image.length) {
    const segment = readSegment(image, position);
    if (segment === undefined || segments.length === MAX_SEGMENTS) return undefined;
    segments.push(segment);
    if (segment.marker === MARKER.end) break;
    position = nextMarker(image, position + segment.bytes.length - 1);
  }
  return segments;
}

/** The position after the next bytes 0xff, of which a marker has at least one. Decoders skip everything before them. */
function nextMarker(image: Buffer, from: number): number {
  let position = from;
  while (position < image.length && image[position] !== 0xff) position += 1;
  while (image[position] === 0xff) position += 1;
  return position;
}

/** The segment whose marker is at the position; undefined if it is damaged. */
function readSegment(image: Buffer, at: number): Segment | undefined {
  const marker = image[at] ?? 0;
  if (isStandalone(marker)) {
    return { marker, payload: Buffer.alloc(0), bytes: image.subarray(at - 1, at + 1) };
  }
  const length = at + 3 <= image.length ? image.readUInt16BE(at + 1) : 0;
  const end = at + 1 + length;
  if (length < 2 || end > image.length) return undefined;
  const last = marker === MARKER.scan ? endOfScan(image, end) : end;
  return { marker, payload: image.subarray(at + 3, end), bytes: image.subarray(at - 1, last) };
}

/** The part of a segment that is needed to show the image; undefined without one. */
function keptPart({ marker, payload, bytes }: Segment): Buffer | undefined {
  const startsWith = (text: string) => payload.toString('latin1', 0, text.length) === text;
  if (isOfImage(marker) || marker === MARKER.end) return bytes;
  if (marker === MARKER.app2 && startsWith('ICC_PROFILE\0')) return bytes;
  if (marker === MARKER.app0 && startsWith('JFIF\0') && payload.length >= JFIF_BYTES - 2) {
    const kept = cut(bytes, JFIF_BYTES);
    // The width and height of the preview.
    kept.writeUInt16BE(0, kept.length - 2);
    return kept;
  }
  if (marker === MARKER.app14 && startsWith('Adobe') && payload.length >= ADOBE_BYTES - 2) {
    return cut(bytes, ADOBE_BYTES);
  }
  return undefined;
}

/** A copy of a segment whose length, which does not count the marker, is `length`. */
function cut(bytes: Buffer, length: number): Buffer {
  const kept = Buffer.from(bytes.subarray(0, 2 + length));
  kept.writeUInt16BE(length, 2);
  return kept;
}

/** Whether a marker has no length: the end, or one that only occurs in coded data. */
function isStandalone(marker: number): boolean {
  return marker <= 0x01 || (marker >= 0xd0 && marker <= MARKER.end);
}

/** Whether a segment has the image or its tables. `0xc8` is reserved. */
function isOfImage(marker: number): boolean {
  return (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc8) || (marker >= MARKER.scan && marker <= 0xdf);
}

/** The position of the first marker after coded data, in which 0xff is followed by zero or by a restart marker. */
function endOfScan(image: Buffer, from: number): number {
  for (let position = from; position < image.length; position += 1) {
    if (image[position] !== 0xff) continue;
    const next = image[position + 1] ?? 0;
    if (next !== 0 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7)) return position;
  }
  return image.length;
}

function isExif(payload: Buffer): boolean {
  return payload.toString('latin1', 0, 6) === 'Exif\0\0';
}

/** The orientation in an EXIF segment; undefined without one. */
function orientationOf(payload: Buffer): number | undefined {
  const tiff = payload.subarray(6);
  const isLittle = tiff.toString('latin1', 0, 2) === 'II';
  const read = (at: number, bytes: 2 | 4) => {
    if (at + bytes > tiff.length) return 0;
    return isLittle ? tiff.readUIntLE(at, bytes) : tiff.readUIntBE(at, bytes);
  };
  const directory = read(4, 4);
  const end = Math.min(tiff.length, directory + 2 + 12 * read(directory, 2));
  for (let entry = directory + 2; entry < end; entry += 12) {
    // SHORT is type 3.
    if (read(entry, 2) !== ORIENTATION || read(entry + 2, 2) !== 3) continue;
    const value = read(entry + 8, 2);
    return value > UPRIGHT && value <= 8 ? value : UPRIGHT;
  }
  return undefined;
}

/** An EXIF segment with only the orientation. */
function orientationSegment(orientation: number): Buffer {
  const directory = [0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0];
  const exif = [...Buffer.from('Exif\0\0MM\0*'), 0, 0, 0, 8, ...directory];
  return Buffer.from([0xff, MARKER.app1, 0, exif.length + 2, ...exif]);
}
