import { type Profiler, Session } from 'node:inspector/promises';
import { pathToFileURL } from 'node:url';

/** The code that ran since the last measurement. */
export type Reached = {
  /** By the URL of each file: 1 for each character of the code that ran. */
  files: ReadonlyMap<string, Uint8Array>;
  /** How often blocks ran, summed up. */
  steps: number;
};

/** Measures which blocks of some code run, and how often, by the counters of V8. Nothing has to be instrumented. */
export class BlockCoverage {
  readonly #session = new Session();
  readonly #isCounted: (url: string) => boolean;

  private constructor(isCounted: (url: string) => boolean) {
    this.#isCounted = isCounted;
  }

  /** Starts to count. Load the code before: V8 counts how it is loaded, too. */
  static async start(isCounted: (url: string) => boolean): Promise<BlockCoverage> {
    const coverage = new BlockCoverage(isCounted);
    coverage.#session.connect();
    await coverage.#session.post('Profiler.enable');
    await coverage.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    await coverage.take();
    return coverage;
  }

  /** What ran since the last call. Takes about a millisecond, so measure many runs together where that suffices. */
  async take(): Promise<Reached> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    const counted = result.filter(({ url }) => this.#isCounted(url));
    return {
      files: new Map(counted.map((script) => [script.url, painted(script)])),
      steps: counted.reduce((sum, { functions }) => sum + stepsOf(functions), 0),
    };
  }

  async stop(): Promise<void> {
    await this.#session.post('Profiler.stopPreciseCoverage');
    this.#session.disconnect();
  }
}

/**
 * Which files count: those of the project, except this package, and those of some packages in `node_modules`.
 *
 * @param root the folder of the project
 */
export function projectCode(root: string, libraries: readonly string[] = []): (url: string) => boolean {
  const base = pathToFileURL(`${root}/`).href;
  const own = `${base}packages/fuzzing/`;
  return (url) => {
    if (!url.startsWith(base) || url.startsWith(own)) return false;
    return (
      !url.includes('/node_modules/') || libraries.some((name) => url.includes(`/node_modules/${name}/`))
    );
  };
}

/** V8 reports the ranges of a function from the outside in, and a function within another one as a function of its own. */
function painted({ functions }: Profiler.ScriptCoverage): Uint8Array {
  const ranges = functions
    .toSorted((a, b) => startOf(a) - startOf(b) || endOf(b) - endOf(a))
    .flatMap((each) => each.ranges);
  const characters = new Uint8Array(ranges.reduce((end, { endOffset }) => Math.max(end, endOffset), 0));
  for (const { startOffset, endOffset, count } of ranges)
    characters.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  return characters;
}

const startOf = ({ ranges }: Profiler.FunctionCoverage) => ranges[0]?.startOffset ?? 0;
const endOf = ({ ranges }: Profiler.FunctionCoverage) => ranges[0]?.endOffset ?? 0;

function stepsOf(functions: readonly Profiler.FunctionCoverage[]): number {
  return functions.reduce((sum, { ranges }) => ranges.reduce((total, { count }) => total + count, sum), 0);
}
