import { SEQUENCE_HEADER, unitsOf } from './obus.ts';
import { pictureOf } from './sequence-header.ts';

/** The fields of the box `av1C` before its units (AV1 in ISO base media file format §2.3.3). */
const HEAD_BYTES = 4;

/** BT.709 in limited range, which a codec string without further fields says. */
const USUAL_COLOUR = '01.01.01.0';

/**
 * RFC 6381 codec string: profile, level, tier and bit depth, and the colours if they are not those of BT.709 (the same document, §5). Throws if
 * the record is truncated.
 *
 * @param colour the content of the box `colr`
 */
export function configuredCodec(configuration: Buffer, colour?: Buffer): string {
  if (configuration.length < HEAD_BYTES) throw new Error('The configuration of the decoder is truncated');
  const [, profileAndLevel = 0, flags = 0] = configuration;
  const profile = profileAndLevel >> 5;
  const level = String(profileAndLevel & 31).padStart(2, '0');
  const tier = isHighTier(configuration) ? 'H' : 'M';
  const codec = `av01.${profile}.${level}${tier}.${bitDepth(flags)}`;
  const tags = colour === undefined ? USUAL_COLOUR : tagsOf(colour);
  return tags === USUAL_COLOUR ? codec : [codec, ...subsamplingOf(flags), tags].join('.');
}

function isHighTier(configuration: Buffer): boolean {
  return (configuration.readUInt8(2) & 0x80) !== 0;
}

/** Whether there is no chroma, its subsampling in both directions, and its position. */
function subsamplingOf(flags: number): string[] {
  const bit = (at: number) => String((flags >> at) & 1);
  return [bit(4), `${bit(3)}${bit(2)}${flags & 3}`];
}

/** Primaries, transfer function, matrix, and whether the range is full (ISO/IEC 14496-12 §12.1.5.2). */
function tagsOf(colour: Buffer): string {
  if (colour.toString('latin1', 0, 4) !== 'nclx') return USUAL_COLOUR;
  const codePoints = [4, 6, 8].map((at) => String(colour.readUInt16BE(at)).padStart(2, '0'));
  return [...codePoints, colour.readUInt8(10) >> 7].join('.');
}

function bitDepth(flags: number): string {
  if ((flags & 0x40) === 0) return '08';
  return (flags & 0x20) === 0 ? '10' : '12';
}

/**
 * The configuration with the sequence header of a sample. SVT-AV1 1.x describes the stream before it has chosen its tools, but both headers must be equal
 * (§2.3.4).
 */
export function withHeaderOf(configuration: Buffer, sample: Buffer): Buffer {
  const header = unitsOf(sample).find(({ type }) => type === SEQUENCE_HEADER);
  if (header === undefined) throw new Error('A key frame has no sequence header');
  return Buffer.concat([configuration.subarray(0, HEAD_BYTES), header.bytes]);
}

/**
 * Tells whether the sequence headers in a sample are that of the configuration. False for the high tier and for samples of several layers, which few
 * decoders know, and if the header of the muxer describes another picture: that is what the plan and the codec string come from.
 */
export function isConfigured(configuration: Buffer, ofMuxer = configuration): (sample: Buffer) => boolean {
  const [known, ...others] = sequenceHeaders(configuration.subarray(HEAD_BYTES));
  if (known === undefined || others.length > 0 || isHighTier(configuration)) return () => false;
  if (!sequenceHeaders(ofMuxer.subarray(HEAD_BYTES)).every((header) => haveSamePicture(header, known)))
    return () => false;
  return (sample) => {
    try {
      return unitsOf(sample).every(
        ({ type, isOfLayer, payload }) => !isOfLayer && (type !== SEQUENCE_HEADER || payload.equals(known)),
      );
    } catch {
      return false;
    }
  };
}

function haveSamePicture(one: Buffer, other: Buffer): boolean {
  try {
    return one.equals(other) || pictureOf(one) === pictureOf(other);
  } catch {
    return false;
  }
}

function sequenceHeaders(bytes: Buffer): Buffer[] {
  return unitsOf(bytes)
    .filter(({ type }) => type === SEQUENCE_HEADER)
    .map(({ payload }) => payload);
}
