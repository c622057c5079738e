import type { Random } from './random.ts';

/** Values that parsers of sizes, counts and times often mishandle. */
const EXTREMES = [0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff];
const MAX_CHANGES = 30;

type Change = (file: Buffer, upTo: (limit: number) => number) => Buffer;

const CHANGES: readonly Change[] = [
  (file, upTo) => {
    const at = upTo(file.length);
    file[at] = (file[at] ?? 0) ^ (1 << upTo(8));
    return file;
  },
  (file, upTo) => {
    file[upTo(file.length)] = upTo(256);
    return file;
  },
  (file, upTo) => {
    if (file.length >= 4) file.writeUInt32BE(EXTREMES[upTo(EXTREMES.length)] ?? 0, upTo(file.length - 3));
    return file;
  },
  (file, upTo) => {
    const at = upTo(file.length);
    return Buffer.concat([file.subarray(0, at), file.subarray(at + upTo(64))]);
  },
  (file, upTo) => {
    const at = upTo(file.length);
    return Buffer.concat([file.subarray(0, at + upTo(256)), file.subarray(at)]);
  },
  (file, upTo) => {
    const at = upTo(file.length);
    file.copy(file, upTo(file.length), at, at + upTo(256));
    return file;
  },
];

/** A copy of a file with some bytes changed, removed or duplicated, most of them near the beginning. */
export function mutated(original: Buffer, random: Random): Buffer {
  let file: Buffer = Buffer.from(original);
  const changes = 1 + Math.floor(random.fraction() ** 2 * MAX_CHANGES);
  for (let change = 0; change < changes && file.length > 0; change += 1) {
    const reach = random.fraction() < 0.5 ? 1 : 0.05;
    const upTo = (limit: number) => random.below(limit === file.length ? Math.max(1, limit * reach) : limit);
    file = random.pick(CHANGES)(file, upTo);
  }
  return file;
}
