import { numbers } from './cmaf-boxes.ts';

/** An open bitstream unit of AV1 of at most 2,097,151 bytes, with its size (AV1 §5.3.1). */
export function obu(type: number, payload: readonly number[] | Buffer): Buffer {
  const size: number[] = [];
  for (let rest = payload.length; size.length === 0 || rest > 0; rest >>= 7) size.push(rest & 127);
  const sized = size.map((bits, at) => (at < size.length - 1 ? bits | 128 : bits));
  return Buffer.from([(type << 3) | 2, ...sized, ...payload]);
}

/** The content of the box `av1C`: version, profile and level, flags, delay, and units. */
export function av1Configuration(
  fields: { profile?: number; level?: number; flags?: number },
  ...units: readonly Buffer[]
): Buffer {
  const { profile = 0, level = 1, flags = 0x0d } = fields;
  return Buffer.concat([Buffer.from([0x81, (profile << 5) | level, flags, 0]), ...units]);
}

/** A NAL unit of HEVC: its header, and bytes. */
export function nalUnit(type: number, ...bytes: readonly number[]): Buffer {
  return Buffer.from([type << 1, 1, ...bytes]);
}

/** A sample of NAL units, each after its length (ISO/IEC 14496-15 §4.3.2). */
export function sampleOf(...units: readonly Buffer[]): Buffer {
  return Buffer.concat(units.flatMap((unit) => [numbers(unit.length), unit]));
}

/** The fields of the box `hvcC` that the codec string has (ISO/IEC 14496-15 §8.3.3.1.2). */
export type HevcProfile = {
  /** Of profile space, tier and profile. */
  profile?: number;
  compatibility?: number;
  constraints?: readonly number[];
  level?: number;
};

/** The content of the box `hvcC`, with an array for each type of parameter sets. */
export function hevcConfiguration(
  { profile = 1, compatibility = 0x6000_0000, constraints = [0x90], level = 93 }: HevcProfile,
  ...arrays: readonly (readonly Buffer[])[]
): Buffer {
  const six = Buffer.alloc(6);
  six.set(constraints);
  return Buffer.concat([
    Buffer.from([1, profile]),
    numbers(compatibility),
    six,
    Buffer.from([level, 0xf0, 0, 0xfc, 0xfd, 0xf8, 0xf8, 0, 0, 0xff, arrays.length]),
    ...arrays.flatMap((sets) => [
      Buffer.from([0xa0 | ((sets[0]?.[0] ?? 0) >> 1), 0, sets.length]),
      ...sets.flatMap((set) => [Buffer.from([set.length >> 8, set.length & 255]), set]),
    ]),
  ]);
}
