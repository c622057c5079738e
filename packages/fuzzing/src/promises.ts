import { isDeepStrictEqual } from 'node:util';

type ErrorClass = new (...parameters: never[]) => Error;

/**
 * The result of a parser; undefined if it has refused the input with an error of one of these classes. Any other error goes on.
 */
export function refusedWith<T>(classes: readonly ErrorClass[], parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (classes.some((each) => error instanceof each)) return undefined;
    throw error;
  }
}

/** The same for a parser that takes time. */
export async function refusedLaterWith<T>(
  classes: readonly ErrorClass[],
  parse: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await parse();
  } catch (error) {
    if (classes.some((each) => error instanceof each)) return undefined;
    throw error;
  }
}

/** Errors that no code of ours throws on purpose, except those of Node for lengths that exceed the bytes. */
const MISTAKES = ['RangeError', 'TypeError', 'ReferenceError'];
const OUTSIDE = ['ERR_OUT_OF_RANGE', 'ERR_BUFFER_OUT_OF_BOUNDS'];

/**
 * The same for code whose errors have no class of their own. Mistakes of ours go on.
 */
export function refusedPlainly<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (!MISTAKES.includes(error.name) || OUTSIDE.includes((error as NodeJS.ErrnoException).code ?? ''))
      return undefined;
    throw error;
  }
}

/** Throws unless a promise of a parser holds. */
export function expectThat(isKept: boolean, promise: string): asserts isKept {
  if (!isKept) throw new Error(`Broken promise: ${promise}`);
}

/** Throws unless both are equal. */
export function expectSame(actual: unknown, expected: unknown, promise: string): void {
  expectThat(isDeepStrictEqual(actual, expected), promise);
}
