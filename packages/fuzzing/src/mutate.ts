import type { Random } from '@framelane/test-kit/random';

/** Numbers that parsers of sizes, counts and times often mishandle. */
const NUMBERS = [
  0n,
  1n,
  2n,
  16n,
  127n,
  128n,
  255n,
  256n,
  32_767n,
  32_768n,
  65_535n,
  65_536n,
  2n ** 31n - 1n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 53n,
  2n ** 63n - 1n,
  2n ** 64n - 1n,
];
const WIDTHS = [1, 2, 4, 8];
const MAX_CHANGES = 6;
/** Repetitions of a part: enough to show work that grows faster than its input. */
const MAX_REPETITIONS = 300;
const MAX_PART_BYTES = 40;

/** What inputs are made from. */
export type Material = {
  random: Random;
  dictionary: readonly Buffer[];
  /** Inputs that reached new code. */
  pool: readonly Buffer[];
};

type Change = (input: Buffer, material: Material) => Buffer;

const CHANGES: readonly Change[] = [
  (input, { random }) => {
    const at = random.below(input.length + 1);
    return replaced(input, { at, end: at + 1 }, Buffer.of((input[at] ?? 0) ^ (1 << random.below(8))));
  },
  (input, { random }) => overwritten(input, random, Buffer.of(random.below(256))),
  (input, { random }) => overwritten(input, random, number(random)),
  (input, { random }) => inserted(input, random, number(random)),
  (input, { random, dictionary }) => inserted(input, random, word(random, dictionary)),
  (input, { random, dictionary }) => overwritten(input, random, word(random, dictionary)),
  (input, { random }) => replaced(input, part(input, random), Buffer.alloc(0)),
  (input, { random }) => input.subarray(0, random.below(input.length + 1)),
  (input, { random }) => {
    const { at, end } = part(input, random);
    return inserted(input, random, input.subarray(at, end));
  },
  (input, { random }) => {
    const { at, end } = part(input, random);
    const repeated = Buffer.concat(Array(2 + random.below(MAX_REPETITIONS)).fill(input.subarray(at, end)));
    return replaced(input, { at, end }, repeated);
  },
  (input, { random, pool }) => {
    const other = pool.length === 0 ? input : random.pick(pool);
    return Buffer.concat([
      input.subarray(0, random.below(input.length + 1)),
      other.subarray(random.below(other.length + 1)),
    ]);
  },
  (input, { random, pool }) => {
    const other = pool.length === 0 ? input : random.pick(pool);
    const { at, end } = part(other, random);
    return inserted(input, random, other.subarray(at, end));
  },
];

/** A copy of an input with a few random changes, of `maxBytes` at most. */
export function mutate(input: Buffer, material: Material, maxBytes: number): Buffer {
  const { random } = material;
  let mutated: Buffer = Buffer.from(input);
  for (let changes = 1 + random.below(MAX_CHANGES); changes > 0; changes -= 1)
    mutated = random.pick(CHANGES)(mutated, material).subarray(0, maxBytes);
  return Buffer.from(mutated);
}

/** A number as bytes or as digits. */
function number(random: Random): Buffer {
  const value = random.pick(NUMBERS);
  const width = random.pick(WIDTHS);
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  const kind = random.below(3);
  if (kind === 0) return Buffer.from(String(value));
  return kind === 1 ? bytes.subarray(8 - width) : Buffer.from(bytes.subarray(8 - width)).reverse();
}

function word(random: Random, dictionary: readonly Buffer[]): Buffer {
  return dictionary.length === 0 ? number(random) : random.pick(dictionary);
}

type Part = { at: number; end: number };

function part(input: Buffer, random: Random): Part {
  const at = random.below(input.length + 1);
  return { at, end: Math.min(input.length, at + 1 + random.below(MAX_PART_BYTES)) };
}

function replaced(input: Buffer, { at, end }: Part, bytes: Buffer): Buffer {
  return Buffer.concat([input.subarray(0, at), bytes, input.subarray(end)]);
}

function inserted(input: Buffer, random: Random, bytes: Buffer): Buffer {
  const at = random.below(input.length + 1);
  return replaced(input, { at, end: at }, bytes);
}

function overwritten(input: Buffer, random: Random, bytes: Buffer): Buffer {
  const at = random.below(input.length + 1);
  return replaced(input, { at, end: Math.min(input.length, at + bytes.length) }, bytes);
}
