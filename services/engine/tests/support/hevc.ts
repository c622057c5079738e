import type { Size } from '../../src/source/media-source.ts';
import { BitCopy } from './bits.ts';

/** Types of NAL units (ITU-T H.265 table 7-1). */
export const VPS = 32;
export const SPS = 33;
export const PPS = 34;
export const EOS = 36;
export const RESERVED = 41;

export function unitType(unit: Buffer): number {
  return ((unit[0] ?? 0) >> 1) & 63;
}

export function isSlice(unit: Buffer): boolean {
  return unitType(unit) < VPS;
}

/** An empty unit. */
export function unitOf(type: number): Buffer {
  return Buffer.from([type << 1, 1, 0x80]);
}

/** The same unit in the next layer, as the alpha channel and the second view of a stereo video are (ITU-T H.265 annexes F and G). */
export function inNextLayer(unit: Buffer): Buffer {
  const copy = Buffer.from(unit);
  copy[1] = (copy[1] ?? 0) | (1 << 3);
  return copy;
}

/** The NAL units of a byte stream (ITU-T H.265 annex B). */
export function unitsOf(stream: Buffer): Buffer[] {
  const prefix = Buffer.from([0, 0, 1]);
  const starts: number[] = [];
  for (let at = stream.indexOf(prefix); at !== -1; at = stream.indexOf(prefix, at + 3)) starts.push(at + 3);
  return starts.map((start, at) => {
    const next = starts[at + 1];
    const end = next === undefined ? stream.length : next - 3;
    return stream.subarray(start, stream[end - 1] === 0 ? end - 1 : end);
  });
}

export function streamOf(units: readonly Buffer[]): Buffer {
  return Buffer.concat(units.flatMap((unit) => [Buffer.from([0, 0, 0, 1]), unit]));
}

/** The NAL units of a sample of an MP4, with lengths of four bytes. */
export function unitsOfSample(sample: Buffer): Buffer[] {
  const units: Buffer[] = [];
  for (let at = 0; at < sample.length; ) {
    const bytes = sample.readUInt32BE(at);
    units.push(sample.subarray(at + 4, at + 4 + bytes));
    at += 4 + bytes;
  }
  return units;
}

export function sampleOf(units: readonly Buffer[]): Buffer {
  return Buffer.concat(
    units.flatMap((unit) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(unit.length);
      return [length, unit];
    }),
  );
}

/** A copy of a slice that says that it is not the first one of its picture. */
export function asLaterSlice(unit: Buffer): Buffer {
  const copy = Buffer.from(unit);
  copy[2] = (copy[2] ?? 0) & 0x7f;
  return copy;
}

/** Bytes before the size in a sequence parameter set without sub-layers: header, ids, profile, tier and level. */
const SPS_HEAD_BYTES = 2 + 1 + 12;

/** A copy of a sequence parameter set without sub-layers that declares another level: 30 times its number. */
export function withLevel(sps: Buffer, level: number): Buffer {
  const content = unescaped(sps);
  content[SPS_HEAD_BYTES - 1] = level;
  return escaped(content);
}

/** A sequence parameter set that declares another size. */
export function withSize(sps: Buffer, { width, height }: Size): Buffer {
  const bits = new BitCopy(unescaped(sps));
  bits.copy(SPS_HEAD_BYTES * 8);
  bits.copyCode();
  if (bits.copyCode() === 3) bits.copy(1);
  bits.skipCode();
  bits.skipCode();
  bits.putCode(width);
  bits.putCode(height);
  return escaped(bits.finish());
}

/** Without emulation prevention bytes. */
function unescaped(bytes: Buffer): Buffer {
  return Buffer.from(
    bytes.filter((byte, at) => !(byte === 3 && at > 1 && bytes[at - 1] === 0 && bytes[at - 2] === 0)),
  );
}

/** With emulation prevention bytes (ITU-T H.265 §7.4.2). */
function escaped(bytes: Buffer): Buffer {
  const out: number[] = [];
  for (const byte of bytes) {
    if (byte <= 3 && out.at(-1) === 0 && out.at(-2) === 0) out.push(3);
    out.push(byte);
  }
  return Buffer.from(out);
}

const ARRAYS_OFFSET = 22;

/** The content of a box `hvcC` with other parameter sets (ISO/IEC 14496-15 §8.3.2). */
export function withParameterSets(record: Buffer, changed: (unit: Buffer) => Buffer[]): Buffer {
  const parts = [record.subarray(0, ARRAYS_OFFSET + 1)];
  let at = ARRAYS_OFFSET + 1;
  const number = (value: number) => Buffer.from([value >> 8, value & 0xff]);
  for (let array = 0; array < (record[ARRAYS_OFFSET] ?? 0); array += 1) {
    const units: Buffer[] = [];
    const type = record.subarray(at, at + 1);
    const count = record.readUInt16BE(at + 1);
    at += 3;
    for (let unit = 0; unit < count; unit += 1) {
      const end = at + 2 + record.readUInt16BE(at);
      units.push(...changed(record.subarray(at + 2, end)));
      at = end;
    }
    parts.push(type, number(units.length), ...units.flatMap((unit) => [number(unit.length), unit]));
  }
  return Buffer.concat(parts);
}
