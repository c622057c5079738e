import type { Random } from './random.ts';

/** Values that parsers of sizes, counts and times often mishandle. */
const EXTREMES = [0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff];
const MAX_CHANGES = 30;

/** Random values of one change. */
type Values = {
  /** A random position in a file of this length. For a random half of the changes it is near the beginning. */
  position: (length: number) => number;
  /** An integer in [0, limit). */
  below: (limit: number) => number;
};

type Change = (file: Buffer, values: Values) => Buffer;

const CHANGES: readonly Change[] = [
  (file, { position, below }) => {
    const at = position(file.length);
    file[at] = (file[at] ?? 0) ^ (1 << below(8));
    return file;
  },
  (file, { position, below }) => {
    file[position(file.length)] = below(256);
    return file;
  },
  (file, { position, below }) => {
    const value = EXTREMES[below(EXTREMES.length)] ?? 0;
    if (file.length >= 4) file.writeUInt32BE(value, Math.min(position(file.length), file.length - 4));
    return file;
  },
  (file, { position, below }) => {
    const at = position(file.length);
    return Buffer.concat([file.subarray(0, at), file.subarray(at + below(64))]);
  },
  (file, { position, below }) => {
    const at = position(file.length);
    return Buffer.concat([file.subarray(0, at + below(256)), file.subarray(at)]);
  },
  (file, { position, below }) => {
    const at = position(file.length);
    file.copy(file, position(file.length), at, at + below(256));
    return file;
  },
];

/**
 * A copy of a file with some bytes changed, removed or duplicated. About half of the changes are in the first twentieth of the file,
 * where most headers are; the others are anywhere.
 */
export function mutated(original: Buffer, random: Random): Buffer {
  let file: Buffer = Buffer.from(original);
  const changes = 1 + Math.floor(random.fraction() ** 2 * MAX_CHANGES);
  for (let change = 0; change < changes && file.length > 0; change += 1) {
    const reach = random.fraction() < 0.5 ? 1 : 0.05;
    file = random.pick(CHANGES)(file, {
      position: (length) => random.below(Math.max(1, length * reach)),
      below: (limit) => random.below(limit),
    });
  }
  return file;
}
