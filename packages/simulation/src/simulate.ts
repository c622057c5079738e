import { Random } from '@framelane/test-kit/random';
import pg from 'pg';
import { History } from './history.ts';
import { installMutant } from './mutants.ts';
import { installSeededRandomness } from './seeded-randomness.ts';
import { installVirtualTime, realTime } from './virtual-time.ts';
import { type FaultRates, Faults, type World } from './world.ts';

export type Run = {
  seed: number;
  /** How many clients come, one after another. */
  clients: number;
  databaseUrl: string;
  clockFile: string;
  workDir: string;
  /** Changes the code before the run (see mutants.ts). */
  mutant?: string | undefined;
  /** Is called with each event; `isMark` for those that are too many to read. */
  onLine?: ((line: string, isMark: boolean) => void) | undefined;
};

export type Outcome = {
  violations: string[];
  digest: string;
  events: number;
  statements: number;
  faults: Record<string, number>;
  virtualSeconds: number;
  realSeconds: number;
};

const RATES: FaultRates = {
  lostRequest: 0.01,
  lostResponse: 0.01,
  doubledRequest: 0.01,
  lostMessage: 0.02,
  lostConfirm: 0.02,
  doubledMessage: 0.03,
  closedChannel: 0.03,
  failedObject: 0.01,
  tornObject: 0.01,
  slow: 0.0005,
  failedMedia: 0.01,
};

/** Virtual milliseconds within which all comes to rest after the last fault. */
const REST_MS = 15 * 60_000;

/** Runs both services with the faults of a seed, in this Node process, which must run nothing else. */
export async function simulate(run: Run): Promise<Outcome> {
  const begunAt = realTime.now();
  const monitor = new pg.Client({ connectionString: run.databaseUrl });
  await monitor.connect();
  const time = installVirtualTime();
  const random = new Random(run.seed);
  const history = new History(() => time.now(), run.onLine);
  const world: World = { time, random, history, faults: new Faults(random, RATES) };
  installSeededRandomness(new Random(run.seed ^ 0x5eed));
  const isMutantLoaded = run.mutant === undefined ? () => true : installMutant(run.mutant);
  // The code under test is loaded here, with the virtual time and the random numbers of the seed.
  const { runScenario } = await import('./scenario.ts');
  if (!isMutantLoaded()) throw new Error(`The file of the mutant ${run.mutant} was not loaded`);
  const { violations, statements } = await runScenario(run, world, monitor, REST_MS);
  await monitor.end();
  return {
    violations,
    digest: history.digest(),
    events: history.events,
    statements,
    faults: Object.fromEntries([...world.faults.counts].sort()),
    virtualSeconds: Math.round(time.now() / 1000),
    realSeconds: (realTime.now() - begunAt) / 1000,
  };
}
