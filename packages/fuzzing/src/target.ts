/** A parser that is fuzzed. */
export type Target = {
  /** The longest input, in bytes. */
  maxBytes: number;
  /**
   * The steps that an input may take: `fixed`, and `perByte` for each of its bytes. A step is one run of a block of the project's code, so the
   * limit does not depend on the machine.
   */
  steps: { fixed: number; perByte: number };
  /** Words of the syntax, which random bytes would hardly hit. */
  dictionary: readonly (string | Buffer)[];
  /** Inputs to begin with. */
  seeds: readonly (string | Buffer)[];
  /** Packages in `node_modules` whose code also guides the search. Their steps count, too. */
  libraries?: readonly string[];
  /** Parses an input. Throws if the parser breaks one of its promises. */
  run: (input: Buffer) => void | Promise<void>;
};

/** The steps that inputs of this many bytes may take, `inputs` of them together. */
export function stepLimit({ steps }: Pick<Target, 'steps'>, bytes: number, inputs = 1): number {
  return inputs * steps.fixed + bytes * steps.perByte;
}
