/** Types of open bitstream units (AV1 §6.2.2). */
export const SEQUENCE_HEADER = 1;
const FRAME_HEADER = 3;
const FRAME = 6;
/**
 * What ffmpeg's `filter_units` takes for the types that no decoder needs: metadata, which can say anything, lists of tiles, padding, and reserved types.
 */
export const UNNEEDED = '0|5|8-15';
const FRAMES: readonly number[] = [FRAME_HEADER, FRAME];

/** A temporal unit has a few headers, and a unit for each tile group at most. */
const MAX_UNITS = 1000;
/** Bytes of a size (AV1 §4.10.5). */
const MAX_SIZE_BYTES = 8;

/** A unit: its type, whether it is of one of several layers, all its bytes, and those after its header. */
export type Unit = { type: number; isOfLayer: boolean; bytes: Buffer; payload: Buffer };

/** The units of a sample or of a configuration (AV1 §5.3.1). Throws if one is truncated, has no size, or if there are too many. */
export function unitsOf(bytes: Buffer): Unit[] {
  const units: Unit[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (units.length === MAX_UNITS) throw new Error('There are too many units');
    const header = bytes.readUInt8(at);
    const hasExtension = (header & 4) !== 0;
    const hasSize = (header & 2) !== 0;
    // Only the last unit of a sample may have none, and no encoder of ffmpeg omits it.
    if (!hasSize) throw new Error('A unit has no size');
    const size = readSize(bytes, at + (hasExtension ? 2 : 1));
    const end = size.end + size.value;
    if (end > bytes.length) throw new Error('A unit is truncated');
    units.push({
      type: (header >> 3) & 15,
      isOfLayer: hasExtension,
      bytes: bytes.subarray(at, end),
      payload: bytes.subarray(size.end, end),
    });
    at = end;
  }
  return units;
}

/** Whether decoding can start at a sample: it has a sequence header, and begins with a key frame that is shown (AV1 §7.6.2). */
export function isKeyFrame(sample: Buffer): boolean {
  try {
    const units = unitsOf(sample);
    const first = units.findIndex(({ type }) => FRAMES.includes(type));
    const hasHeader = units.slice(0, Math.max(0, first)).some(({ type }) => type === SEQUENCE_HEADER);
    return hasHeader && isShownKeyFrame(units[first] as Unit);
  } catch {
    return false;
  }
}

/** The first bits of a frame header: `show_existing_frame`, two bits of `frame_type`, `show_frame` (AV1 §5.9.2). A key frame has the type 0. */
function isShownKeyFrame({ payload }: Unit): boolean {
  return payload.readUInt8(0) >> 4 === 0b0001;
}

/** A number in groups of seven bits, the lowest first. */
function readSize(bytes: Buffer, begin: number): { value: number; end: number } {
  let value = 0;
  for (let at = 0; at < MAX_SIZE_BYTES; at += 1) {
    const byte = bytes.readUInt8(begin + at);
    value += (byte & 0x7f) * 2 ** (7 * at);
    if ((byte & 0x80) === 0) return { value, end: begin + at + 1 };
  }
  throw new Error('The size of a unit is too long');
}
