import type { Size } from '../../src/source/media-source.ts';
import { BitCopy } from './bits.ts';

/** Types of OBUs (AV1 bitstream specification §6.2.2). */
export const SEQUENCE_HEADER = 1;
const TEMPORAL_DELIMITER = 2;
export const FRAME_HEADER = 3;
export const METADATA = 5;
export const RESERVED = 9;

/** Types of OBUs that belong to no layer. */
const OF_ALL_LAYERS = [SEQUENCE_HEADER, TEMPORAL_DELIMITER];

/** `layer` is the spatial layer; undefined if the OBU has no extension. */
export type Obu = { type: number; payload: Buffer; layer?: number };

const HAS_EXTENSION = 4;
const HAS_SIZE = 2;

/** The OBUs of a sample without extensions. Each has a size, except that the last may have none. */
export function obusOf(sample: Buffer): Obu[] {
  const obus: Obu[] = [];
  for (let at = 0; at < sample.length; ) {
    const header = sample[at] ?? 0;
    if (header & HAS_EXTENSION) throw new Error('The OBU has an extension');
    at += 1;
    let bytes = sample.length - at;
    if (header & HAS_SIZE) {
      bytes = 0;
      for (let shift = 0, more = true; more; shift += 7, at += 1) {
        bytes += ((sample[at] ?? 0) & 0x7f) * 2 ** shift;
        more = ((sample[at] ?? 0) & 0x80) !== 0;
      }
    }
    obus.push({ type: header >> 3, payload: sample.subarray(at, at + bytes) });
    at += bytes;
  }
  return obus;
}

/** @param sizeBytes minimum number of bytes of each size; a decoder accepts up to eight */
export function bytesOf(obus: readonly Obu[], sizeBytes = 1): Buffer {
  return Buffer.concat(
    obus.flatMap(({ type, payload, layer }) => [
      layer === undefined
        ? Buffer.from([(type << 3) | HAS_SIZE])
        : Buffer.from([(type << 3) | HAS_EXTENSION | HAS_SIZE, layer << 3]),
      leb128(payload.length, sizeBytes),
      payload,
    ]),
  );
}

/** The same OBU in a spatial layer. */
export function inLayer(obu: Obu, layer: number): Obu {
  return OF_ALL_LAYERS.includes(obu.type) ? obu : { ...obu, layer };
}

/** A number in little-endian base 128 (AV1 bitstream specification §4.10.5). */
function leb128(value: number, bytes: number): Buffer {
  const digits: number[] = [];
  for (let rest = value; rest > 0 || digits.length < bytes; rest = Math.floor(rest / 128))
    digits.push(rest % 128);
  return Buffer.from(digits.map((digit, at) => (at < digits.length - 1 ? digit | 0x80 : digit)));
}

/** Bits of a sequence header before its operating points. It must have no timing. */
function copyBeginning(bits: BitCopy): void {
  bits.copy(3 + 1);
  if (bits.copy(1) === 1) throw new Error('The sequence header is reduced');
  if (bits.copy(1) === 1) throw new Error('The sequence header has timing');
  if (bits.copy(1) === 1) throw new Error('The sequence header has display delays');
}

/** A sequence header without timing that declares another maximum size (AV1 bitstream specification §5.5). */
export function withMaxSize(header: Buffer, { width, height }: Size): Buffer {
  const bits = new BitCopy(header);
  copyBeginning(bits);
  const last = bits.copy(5);
  for (let point = 0; point <= last; point += 1) {
    bits.copy(12);
    if (bits.copy(5) > 7) bits.copy(1);
  }
  const sizes = [bits.skip(4) + 1, bits.skip(4) + 1];
  for (const size of sizes) bits.skip(size);
  bits.put(4, 15);
  bits.put(4, 15);
  bits.put(16, width - 1);
  bits.put(16, height - 1);
  return bits.finish();
}

/** The spatial layers of two operating points and their only temporal layer (AV1 bitstream specification §6.4.1). */
const BOTH_LAYERS = 0x301;
const LOWER_LAYER = 0x101;

/** A sequence header of one layer that declares two spatial layers. */
export function withTwoLayers(header: Buffer): Buffer {
  const bits = new BitCopy(header);
  copyBeginning(bits);
  if (bits.skip(5) > 0) throw new Error('The sequence header has several operating points');
  bits.put(5, 1);
  bits.skip(12);
  const level = bits.skip(5);
  const tier = level > 7 ? [bits.skip(1)] : [];
  for (const layers of [BOTH_LAYERS, LOWER_LAYER]) {
    bits.put(12, layers);
    bits.put(5, level);
    for (const bit of tier) bits.put(1, bit);
  }
  return bits.finish();
}
