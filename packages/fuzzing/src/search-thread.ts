import { parentPort, workerData } from 'node:worker_threads';
import { Random } from '@framelane/test-kit/random';
import { readCorpus, writeCorpus } from './corpus.ts';
import { distilled, type Found, fuzz, type Progress } from './fuzz.ts';
import { coverageOf } from './run-input.ts';
import { SharedInput } from './shared-input.ts';
import { loadTarget } from './targets.ts';

export type SearchOptions = {
  target: string;
  seed: number;
  seconds: number;
  keep: boolean;
  memory: SharedArrayBuffer;
};
export type SearchMessage = { progress: Progress } | { found: Omit<Found, 'pool'> };

const { target: name, seed, seconds, keep, memory } = workerData as SearchOptions;
const target = await loadTarget(name);
const shared = new SharedInput(memory);
const coverage = await coverageOf(target);
const end = performance.now() + 1000 * seconds;
const send = (message: SearchMessage) => parentPort?.postMessage(message);
const { pool, ...found } = await fuzz(target, {
  random: new Random(seed),
  coverage,
  corpus: readCorpus(name).map(({ input }) => input),
  isOver: () => performance.now() > end,
  onRun: (input) => shared.set(input),
  onProgress: (progress) => send({ progress }),
});
if (keep) writeCorpus(name, await distilled(target, pool, coverage));
send({ found });
