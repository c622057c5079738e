import { elementaryStream } from './transport-stream.ts';

/**
 * RFC 6381 codec string of a segment that holds one H.264 stream: profile, constraints and level from its first
 * sequence parameter set (ISO/IEC 14496-10 §7.3.2.1.1). Throws when there is none.
 */
export function avcCodecString(segment: Buffer): string {
  const stream = elementaryStream(segment);
  for (let at = stream.indexOf(START_CODE); at !== -1; at = stream.indexOf(START_CODE, at + 3)) {
    const unitType = (stream[at + 3] ?? 0) & 0x1f;
    if (unitType === SEQUENCE_PARAMETER_SET) return `avc1.${stream.toString('hex', at + 4, at + 7)}`;
  }
  throw new Error('The segment has no sequence parameter set');
}

/** RFC 6381 codec string of a segment that holds one AAC stream: the object type of its first ADTS header. */
export function aacCodecString(segment: Buffer): string {
  const [sync = 0, version = 0, profile = 0] = elementaryStream(segment);
  if (sync !== 0xff || (version & 0xf6) !== 0xf0)
    throw new Error('The segment does not begin with an ADTS header');
  return `mp4a.40.${(profile >> 6) + 1}`;
}

const START_CODE = Buffer.from([0, 0, 1]);
const SEQUENCE_PARAMETER_SET = 7;
