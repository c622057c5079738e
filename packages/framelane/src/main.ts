#!/usr/bin/env node
import { machineProblem } from './machine/machine-problem.js';

/**
 * The command `framelane`. Everything else is loaded after the check of the machine, because an old Node cannot load it.
 */

/** As `engines` of package.json, which npm only warns about. */
const OLDEST_NODE = '22.18';

// SIGUSR1 would open the inspector, and with it another process of the same user could control this one.
process.on('SIGUSR1', () => {});

const problem = machineProblem({ oldestNode: OLDEST_NODE });
if (problem === undefined) {
  const { run } = await import('./program.ts');
  await run(process.argv.slice(2));
} else {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}
