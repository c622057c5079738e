import { checkMachine } from './check-machine.js';
import { installDependencies } from './install.js';
import { runWithProjectNode } from './run-with-project-node.js';
import { ensureSystemPrograms } from './system-programs.js';

/** Installs what an npm script needs on a new machine, and runs it: `node main.js <script> [argument …]`. */

/** What each script runs, and the system programs that it needs besides npm packages. */
const SCRIPTS = {
  start: { program: 'packages/single-node/src/main.ts', systemPrograms: { forTests: false } },
  test: { program: 'infra/testing/run-checks.js', systemPrograms: { forTests: true } },
  admin: { program: 'packages/single-node/src/cli/admin.ts' },
  'rotate-secret': { program: 'packages/single-node/src/cli/rotate-secret.ts' },
};

const [script, ...args] = process.argv.slice(2);
const { program, systemPrograms } = SCRIPTS[script];
checkMachine();
const firstTime = await installDependencies();
if (systemPrograms) await ensureSystemPrograms({ ...systemPrograms, firstTime });
await runWithProjectNode(program, args);
