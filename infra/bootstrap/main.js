import { checkMachine } from './check-machine.js';
import { installDependencies } from './install.js';
import { runWithProjectNode } from './run-with-project-node.js';
import { ensureSystemPrograms } from './system-programs.js';

/** The npm scripts that work on a new machine: what each runs, and the options for the system programs that it needs. */
const SCRIPTS = {
  start: { program: 'packages/single-node/src/main.ts', systemPrograms: {} },
  test: { program: 'infra/testing/run-checks.js', systemPrograms: { forTests: true } },
  admin: { program: 'packages/single-node/src/cli/admin.ts' },
  'rotate-secret': { program: 'packages/single-node/src/cli/rotate-secret.ts' },
};

/** Installs what a script needs, and runs it with the other arguments: `node main.js <script> [argument …]`. */
const [script, ...args] = process.argv.slice(2);
const { program, systemPrograms } = SCRIPTS[script];
checkMachine();
const firstTime = await installDependencies();
if (systemPrograms) await ensureSystemPrograms({ ...systemPrograms, firstTime });
await runWithProjectNode(program, args);
