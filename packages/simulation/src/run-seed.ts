import { createWriteStream } from 'node:fs';
import { type Run, simulate } from './simulate.ts';

/** Runs one seed in a process of its own, and prints its history if it has failed, and its outcome. The argument is the run as JSON. */
const { isVerbose, traceFile, ...run } = JSON.parse(process.argv[2] ?? '{}') as Run & {
  isVerbose: boolean;
  traceFile?: string;
};

const trace = traceFile === undefined ? undefined : createWriteStream(traceFile);
const lines: string[] = [];
const outcome = await simulate({
  ...run,
  onLine: (line, isMark) => {
    trace?.write(`${line}\n`);
    if (isMark) return;
    if (isVerbose) process.stderr.write(`${line}\n`);
    else lines.push(line);
  },
});
await new Promise<void>((resolve) => (trace ? trace.end(resolve) : resolve()));
if (!isVerbose && outcome.violations.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
process.stdout.write(`${JSON.stringify(outcome)}\n`);
process.exit(0);
