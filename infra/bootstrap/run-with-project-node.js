import { delimiter, dirname, join } from 'node:path';
import { PROJECT_NODE, ROOT } from './project.js';
import { run } from './run.js';

/**
 * Hands over to a program of ours on the project's own Node, first in its PATH with the project's tools, and ends with
 * its exit code. Should the bootstrap be killed outright, the program gets a SIGTERM and stops in order.
 */
export async function runWithProjectNode(program, args) {
  const tools = [dirname(PROJECT_NODE), join(ROOT, 'node_modules', '.bin')];
  const PATH = [...tools, process.env.PATH].join(delimiter);
  process.chdir(ROOT);
  // Without the signal that opens the inspector, through which a process of the same user could take Node over.
  const node = [PROJECT_NODE, '--disable-sigusr1'];
  process.exitCode = await run('setpriv', ['--pdeathsig=TERM', ...node, program, ...args], {
    ...process.env,
    PATH,
  });
}
