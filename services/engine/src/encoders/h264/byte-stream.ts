import { IDR_SLICE, PICTURE_PARAMETER_SET, SEQUENCE_PARAMETER_SET, SLICES } from './nal-unit-types.ts';

/**
 * RFC 6381 codec string of H.264: profile, constraints and level from the first sequence parameter set of a byte stream
 * (ISO/IEC 14496-10 §7.3.2.1.1). Throws if it is missing.
 */
export function codecString(stream: Buffer): string {
  const unit = unitsOf(stream).find(({ type }) => type === SEQUENCE_PARAMETER_SET);
  if (!unit) throw new Error('The segment has no sequence parameter set');
  return `avc1.${stream.toString('hex', unit.at + 1, unit.at + 4)}`;
}

/** Whether decoding can start at the beginning of a byte stream: parameter sets, then an IDR picture. */
export function startsWithIdr(stream: Buffer): boolean {
  const types = unitsOf(stream).map(({ type }) => type);
  const first = types.findIndex((type) => SLICES.includes(type));
  const before = types.slice(0, first);
  return (
    types[first] === IDR_SLICE &&
    before.includes(SEQUENCE_PARAMETER_SET) &&
    before.includes(PICTURE_PARAMETER_SET)
  );
}

const START_CODE = Buffer.from([0, 0, 1]);

/** The NAL units of a byte stream (annex B): their types and the positions of their first bytes. */
function unitsOf(stream: Buffer): { type: number; at: number }[] {
  const units: { type: number; at: number }[] = [];
  for (let at = stream.indexOf(START_CODE); at !== -1; at = stream.indexOf(START_CODE, at + 3)) {
    units.push({ type: (stream[at + 3] ?? 0) & 0x1f, at: at + 3 });
  }
  return units;
}
