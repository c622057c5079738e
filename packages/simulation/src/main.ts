import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { createLogger } from '@framelane/service-kit/logger';
import { startDatabaseServer } from './database-server.ts';
import type { Outcome, Run } from './simulate.ts';

const run = promisify(execFile);

/** Ends the run in progress, so that the server is stopped: it does not end with this process. */
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '1' },
    events: { type: 'string', default: '12' },
    mutant: { type: 'string' },
    trace: { type: 'string' },
    verbose: { type: 'boolean', default: false },
    twice: { type: 'boolean', default: false },
  },
});

const folder = await mkdtemp(join(tmpdir(), 'framelane-simulation-'));
// PostgreSQL runs as another user if this program runs as root, and reads the clock there.
await chmod(folder, 0o711);
const server = await startDatabaseServer(folder, createLogger({ service: 'simulation', level: 'error' }));
let failed = false;
try {
  const first = Number(values.seed);
  for (let seed = first; seed < first + Number(values.seeds); seed += 1) await checkSeed(seed);
} catch (error) {
  if (!interrupted.signal.aborted) throw error;
  failed = true;
} finally {
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;

async function checkSeed(seed: number): Promise<void> {
  const outcome = await runSeed(seed, 'a');
  report(seed, outcome);
  if (!values.twice) return;
  const again = await runSeed(seed, 'b');
  if (again.digest === outcome.digest) return;
  failed = true;
  process.stdout.write(`seed ${seed} has two histories: ${outcome.digest} and ${again.digest}\n`);
}

/** Runs a seed in a process and with a database of its own, so that nothing of another run is left. */
async function runSeed(seed: number, which: string): Promise<Outcome> {
  interrupted.signal.throwIfAborted();
  const name = `seed_${seed}_${which}`;
  const { url, clockFile } = await server.create(name);
  const options: Run & { isVerbose: boolean; traceFile: string | undefined } = {
    seed,
    clients: Number(values.events),
    databaseUrl: url,
    clockFile,
    workDir: join(folder, name),
    mutant: values.mutant,
    isVerbose: values.verbose,
    traceFile: values.trace && `${values.trace}.${seed}.${which}`,
  };
  const program = fileURLToPath(import.meta.resolve('./run-seed.ts'));
  const running = run(process.execPath, [program, JSON.stringify(options)], {
    // Operations on files end in the order in which they began.
    env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
    maxBuffer: 2 ** 30,
    signal: interrupted.signal,
  });
  running.child.stderr?.pipe(process.stderr);
  const { stdout } = await running;
  const lines = stdout.trimEnd().split('\n');
  const outcome = JSON.parse(lines.pop() ?? '') as Outcome;
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
  return outcome;
}

function report(seed: number, { violations, digest, events, faults, ...rest }: Outcome): void {
  const count = Object.values(faults).reduce((sum, each) => sum + each, 0);
  const minutes = (rest.virtualSeconds / 60).toFixed(0);
  process.stdout.write(
    `seed ${seed}: ${violations.length === 0 ? 'ok' : `${violations.length} VIOLATIONS`}, ${minutes} virtual minutes in ${rest.realSeconds.toFixed(1)} s, ${count} faults, ${events} events, ${rest.statements} statements, history ${digest}\n`,
  );
  for (const violation of violations) process.stdout.write(`  ${violation}\n`);
  if (violations.length > 0) failed = true;
}
