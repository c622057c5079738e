/** Types of NAL units of HEVC (ITU-T H.265 table 7-1). Those below 32 have slices. */
const END_OF_SLICES = 32;
const IDR: readonly number[] = [19, 20];
/** Other pictures that decoding can start at. Some that follow may refer to earlier ones. */
const OTHER_STARTS = ['16-18', '21-23'];
export const SEQUENCE_PARAMETER_SET = 33;
export const PARAMETER_SETS: readonly number[] = [32, SEQUENCE_PARAMETER_SET, 34];
/** What ffmpeg's `filter_units` takes for the types of parameter sets and of pictures that decoding can start at, except IDR. */
export const SETS_AND_OTHER_STARTS = [...OTHER_STARTS, ...PARAMETER_SETS].join('|');
/** The same for all types after those of parameter sets: delimiters, messages, padding, and what the standard leaves to others. */
export const UNNEEDED = '35-63';

/** A picture of 1080p has at most 68 rows of blocks, and usually one slice. */
const MAX_UNITS = 1000;
const LENGTH_BYTES = 4;

/** The NAL units of a sample (ISO/IEC 14496-15 §4.3.2). Throws if one is truncated, or if there are too many. */
export function unitsOf(sample: Buffer): Buffer[] {
  const units: Buffer[] = [];
  for (let at = 0; at < sample.length; ) {
    if (units.length === MAX_UNITS) throw new Error('There are too many units');
    const begin = at + LENGTH_BYTES;
    at = begin + sample.readUInt32BE(at);
    if (at > sample.length || at === begin) throw new Error('A unit is truncated');
    units.push(sample.subarray(begin, at));
  }
  return units;
}

/** The type of a unit that is not empty. */
export function typeOf(unit: Buffer): number {
  return (unit.readUInt8(0) >> 1) & 63;
}

/** Whether a unit belongs to a layer that only decoders of several layers know, such as that of another eye. */
export function isOfOtherLayer(unit: Buffer): boolean {
  return unit.length < 2 || (unit.readUInt16BE(0) & 0x1f8) !== 0;
}

/** Whether a sample is an IDR picture: no later picture refers to one before it. */
export function isIdrSample(sample: Buffer): boolean {
  try {
    const slice = unitsOf(sample).find((unit) => typeOf(unit) < END_OF_SLICES);
    return slice !== undefined && IDR.includes(typeOf(slice));
  } catch {
    return false;
  }
}
