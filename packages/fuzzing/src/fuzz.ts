import type { Random } from '@framelane/test-kit/random';
import type { BlockCoverage } from './block-coverage.ts';
import { minimize } from './minimize.ts';
import { mutate } from './mutate.ts';
import { ReachedCode } from './reached-code.ts';
import { type Failure, kindOf, measure, reasonOf } from './run-input.ts';
import { stepLimit, type Target } from './target.ts';

/** Inputs that are measured together: reading the counters takes longer than most inputs. */
const BATCH = 64;

/** A batch may take the fixed steps of this many inputs, so that the others hide less of one that takes too many. */
const BATCH_STEPS = BATCH / 8;

const TRIES_TO_SHORTEN = 60;
const TRIES_TO_SHORTEN_FAILURE = 3_000;

export type Progress = { executions: number; characters: number; inputs: number };

/** What a search found: inputs that reach all code that was reached, and the first failure. */
export type Found = Progress & { pool: Buffer[]; failure: Failure | null };

type Options = {
  random: Random;
  coverage: BlockCoverage;
  corpus: readonly Buffer[];
  /** Asked after each batch. */
  isOver: (executions: number) => boolean;
  /** Called before each run: it may be the last one. */
  onRun?: (input: Buffer) => void;
  /** Called when new code was reached. */
  onProgress?: (progress: Progress) => void;
};

/**
 * Searches for inputs that reach new code, by changing those that did, until one breaks a promise of the parser or `isOver`. The same seed
 * and corpus give the same inputs.
 */
export async function fuzz(target: Target, options: Options): Promise<Found> {
  const search = new Search(target, options);
  const failure = await search.run();
  return { ...search.progress, pool: search.pool, failure };
}

class Search {
  readonly pool: Buffer[] = [];
  readonly #target: Target;
  readonly #options: Options;
  readonly #reached = new ReachedCode();
  readonly #dictionary: Buffer[];
  #executions = 0;

  constructor(target: Target, options: Options) {
    // The runs of shorter inputs are announced, too.
    const run: Target['run'] = (input) => {
      this.#executions += 1;
      options.onRun?.(input);
      return target.run(input);
    };
    this.#target = { ...target, run };
    this.#options = options;
    this.#dictionary = target.dictionary.map(bytesOf);
  }

  get progress(): Progress {
    return { executions: this.#executions, characters: this.#reached.characters, inputs: this.pool.length };
  }

  async run(): Promise<Failure | null> {
    const seeds = [...this.#options.corpus, ...this.#target.seeds.map(bytesOf)];
    for (const input of seeds.toSorted((a, b) => a.length - b.length)) {
      const failure = await this.#keepIfNew(input, 0);
      if (failure !== null) return failure;
    }
    while (!this.#options.isOver(this.#executions)) {
      const failure = await this.#batch();
      if (failure !== null) return failure;
    }
    return null;
  }

  async #batch(): Promise<Failure | null> {
    const inputs = Array.from({ length: BATCH }, () => this.#next());
    for (const input of inputs) {
      const reason = await reasonOf(this.#target, input);
      if (reason !== null) return this.#shortened({ input, reason });
    }
    const reached = await this.#options.coverage.take();
    const bytes = inputs.reduce((sum, { length }) => sum + length, 0);
    const isNew = this.#reached.newIn(reached) > 0;
    if (!isNew && reached.steps <= stepLimit(this.#target, bytes, BATCH_STEPS)) return null;
    for (const input of inputs) {
      const failure = await this.#keepIfNew(input, TRIES_TO_SHORTEN);
      if (failure !== null) return failure;
    }
    return null;
  }

  #next(): Buffer {
    const { random } = this.#options;
    const input = this.pool.length === 0 ? Buffer.alloc(0) : random.pick(this.pool);
    const material = { random, dictionary: this.#dictionary, pool: this.pool };
    return mutate(input, material, this.#target.maxBytes);
  }

  async #keepIfNew(input: Buffer, tries: number): Promise<Failure | null> {
    const { coverage } = this.#options;
    const { reached, reason } = await measure(this.#target, input, coverage);
    if (reason !== null) return this.#shortened({ input, reason });
    const gain = this.#reached.newIn(reached);
    if (gain === 0) return null;
    const shorter = await minimize(
      input,
      async (each) => this.#reached.newIn((await measure(this.#target, each, coverage)).reached) >= gain,
      tries,
    );
    this.#reached.add((await measure(this.#target, shorter, coverage)).reached);
    this.#reached.add(reached);
    this.pool.push(shorter);
    this.#options.onProgress?.(this.progress);
    return null;
  }

  async #shortened({ input, reason }: Failure): Promise<Failure> {
    await this.#options.coverage.take();
    const kind = kindOf(reason);
    const reasons = new Map([[input, reason]]);
    const shortest = await minimize(
      input,
      async (each) => {
        const found = (await measure(this.#target, each, this.#options.coverage)).reason;
        if (found === null || kindOf(found) !== kind) return false;
        reasons.set(each, found);
        return true;
      },
      TRIES_TO_SHORTEN_FAILURE,
    );
    return { input: shortest, reason: reasons.get(shortest) ?? reason };
  }
}

function bytesOf(text: string | Buffer): Buffer {
  return typeof text === 'string' ? Buffer.from(text) : text;
}

/** The fewest of these inputs that still reach all that they reach, found greedily: shorter ones first. */
export async function distilled(
  target: Target,
  inputs: readonly Buffer[],
  coverage: BlockCoverage,
): Promise<Buffer[]> {
  const reached = new ReachedCode();
  const kept: Buffer[] = [];
  for (const input of inputs.toSorted((a, b) => a.length - b.length)) {
    if (reached.add((await measure(target, input, coverage)).reached) > 0) kept.push(input);
  }
  return kept;
}
