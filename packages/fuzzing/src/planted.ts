import type { Target } from './target.ts';

/** A parser that a random input hardly ever breaks: only one that reaches more code with each of these bytes. */
export function readWord(input: Buffer): void {
  if (input[0] !== 0x62) return;
  if (input[1] !== 0x75) return;
  throw new Error(`Found in ${input.length} bytes`);
}

/** A parser whose work grows with the square of its input. */
export function countPairs(input: Buffer): number {
  let pairs = 0;
  for (const first of input) {
    for (const second of input) {
      if (first === second) pairs += 1;
    }
  }
  return pairs;
}

/** A target for tests of the search. */
export function plantedTarget(run: (input: Buffer) => void): Target {
  return { maxBytes: 400, steps: { fixed: 200, perByte: 20 }, dictionary: [], seeds: ['seed'], run };
}
