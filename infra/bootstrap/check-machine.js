import { machineProblem } from '../../packages/framelane/src/machine/machine-problem.js';
import { fail } from './terminal.js';

export const OLDEST_NODE = 20;

/** Exits with a message on a machine that Framelane does not support. */
export function checkMachine() {
  const problem = machineProblem({ oldestNode: String(OLDEST_NODE) });
  if (problem !== undefined) fail(problem);
}
