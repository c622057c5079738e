/** NAL unit types of H.264 (ISO/IEC 14496-10 table 7-1). */
export const NAL = { slice: 1, idrSlice: 5, sei: 6, sps: 7, pps: 8, delimiter: 9 } as const;

const START_CODE = Buffer.from([0, 0, 1]);

/** The NAL units of an H.264 byte stream up to its first slice, that slice included. */
export function leadingUnits(stream: Buffer): { type: number; bytes: Buffer }[] {
  const units: { type: number; bytes: Buffer }[] = [];
  let start = stream.indexOf(START_CODE);
  while (start !== -1) {
    const next = stream.indexOf(START_CODE, start + 3);
    const bytes = stream.subarray(start + 3, next === -1 ? undefined : next);
    const type = bytes.readUInt8(0) & 0x1f;
    units.push({ type, bytes });
    if (type === NAL.slice || type === NAL.idrSlice) break;
    start = next;
  }
  return units;
}

/** RFC 6381 name of an H.264 byte stream, by its first sequence parameter set. */
export function avcCodec(stream: Buffer): string {
  const sps = leadingUnits(stream).find(({ type }) => type === NAL.sps);
  if (sps === undefined) throw new Error('There is no sequence parameter set before the first picture');
  return `avc1.${sps.bytes.toString('hex', 1, 4)}`;
}

/** RFC 6381 name of an AAC stream, by its first ADTS header (ISO/IEC 14496-3 §1.A.2.2). */
export function aacCodec(stream: Buffer): string {
  if ((stream.readUInt16BE(0) & 0xfff6) !== 0xfff0) throw new Error('There is no ADTS header at the start');
  return `mp4a.40.${(stream.readUInt8(2) >> 6) + 1}`;
}
