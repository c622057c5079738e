const START_CODE = Buffer.from([0, 0, 1]);

/** The NAL units of a byte stream (ISO/IEC 14496-10 annex B), split at start codes of three bytes. A unit may end with zero bytes. */
export function* nalUnits(stream: Buffer): Generator<Buffer> {
  let start = stream.indexOf(START_CODE);
  while (start !== -1) {
    const next = stream.indexOf(START_CODE, start + 3);
    const unit = stream.subarray(start + 3, next === -1 ? undefined : next);
    if (unit.length > 0) yield unit;
    start = next;
  }
}

/** The NAL units of a sample, each after its length (ISO/IEC 14496-15 §4.3.2). Throws if one is longer than its sample. */
export function lengthPrefixed(data: Buffer, lengthBytes: number): Buffer[] {
  const units: Buffer[] = [];
  for (let at = 0; at < data.length; ) {
    const length = data.readUIntBE(at, lengthBytes);
    at += lengthBytes;
    if (at + length > data.length) throw new Error('a NAL unit is longer than its frame');
    if (length > 0) units.push(data.subarray(at, at + length));
    at += length;
  }
  return units;
}

/** Removes the 3 of each 0 0 3 (ISO/IEC 14496-10 §7.3.1, ISO/IEC 23008-2 §7.3.1.1). */
export function withoutEmulationPrevention(bytes: Buffer): Buffer {
  const payload: number[] = [];
  let zeros = 0;
  for (const byte of bytes) {
    if (zeros >= 2 && byte === 3) {
      zeros = 0;
      continue;
    }
    zeros = byte === 0 ? zeros + 1 : 0;
    payload.push(byte);
  }
  return Buffer.from(payload);
}
