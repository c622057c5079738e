/** Reproducible random numbers from 0 (inclusive) to 1 (exclusive) (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

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
export function mutated(original: Buffer, random: () => number): Buffer {
  let file: Buffer = Buffer.from(original);
  const changes = 1 + Math.floor(random() ** 2 * MAX_CHANGES);
  for (let change = 0; change < changes && file.length > 0; change += 1) {
    const reach = random() < 0.5 ? 1 : 0.05;
    const upTo = (limit: number) =>
      Math.floor(random() * (limit === file.length ? Math.max(1, limit * reach) : limit));
    file = (CHANGES[Math.floor(random() * CHANGES.length)] ?? ((same) => same))(file, upTo);
  }
  return file;
}
