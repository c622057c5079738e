/** Alters fragmented MP4 of ffmpeg for the tests. Knows only the part of the format that they need. */

/** Where the body of a box begins: the first one of this type after `from`. */
export function bodyAt(bytes: Buffer, type: string, from = 0): number {
  const at = bytes.indexOf(type, from, 'latin1');
  if (at === -1) throw new Error(`There is no ${type}`);
  return at + 4;
}

/** Gives a box another type, so that readers skip it. */
export function hide(bytes: Buffer, type: string): void {
  bytes.write('free', bodyAt(bytes, type) - 4, 'latin1');
}

/** Moves the decoding time of a segment (`tfdt` of version 1), in units of its track. */
export function delay(segment: Buffer, units: number): void {
  const at = bodyAt(segment, 'tfdt') + 4;
  segment.writeBigUInt64BE(segment.readBigUInt64BE(at) + BigInt(units), at);
}

/** The fields of a movie fragment's run of samples (ISO/IEC 14496-12 §8.8.8) that each sample has, in order, and that of its size. */
const SAMPLE_FIELDS = [0x100, 0x200, 0x400, 0x800];
const SIZE_FIELD = 0x200;

/** A sample of a segment that has one run, whose samples have sizes of their own. Shares its bytes. */
export function sampleOf(segment: Buffer, index: number): Buffer {
  const run = bodyAt(segment, 'trun');
  const flags = segment.readUIntBE(run + 1, 3);
  const fields = SAMPLE_FIELDS.filter((field) => (flags & field) !== 0);
  const first = run + 8 + [0x1, 0x4].filter((field) => (flags & field) !== 0).length * 4;
  const size = (at: number) =>
    segment.readUInt32BE(first + 4 * (at * fields.length + fields.indexOf(SIZE_FIELD)));
  let begin = bodyAt(segment, 'mdat');
  for (let at = 0; at < index; at += 1) begin += size(at);
  return segment.subarray(begin, begin + size(index));
}
