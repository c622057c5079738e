import { delimiter, dirname, join } from 'node:path';
import { PROJECT_NODE, ROOT } from './project.js';
import { run } from './run.js';

/**
 * Runs a program of the project with the project's Node, with that Node and the project's tools first in PATH, and exits
 * with its exit code. If the bootstrap is killed, the program receives SIGTERM and shuts down cleanly.
 */
export async function runWithProjectNode(program, args) {
  const tools = [dirname(PROJECT_NODE), join(ROOT, 'node_modules', '.bin')];
  const PATH = [...tools, process.env.PATH].join(delimiter);
  process.chdir(ROOT);
  // SIGUSR1 would open the inspector, and with it another process of the same user could control this one.
  const node = [PROJECT_NODE, '--disable-sigusr1'];
  process.exitCode = await run('setpriv', ['--pdeathsig=TERM', ...node, program, ...args], {
    env: { ...process.env, PATH },
  });
}
