import { checkMachine } from './check-machine.js';
import { dependenciesAreInstalled, installDependencies } from './install.js';
import { runWithProjectNode } from './run-with-project-node.js';
import { installSystemPackages, systemPackagesToInstall } from './system-programs.js';
import { fail } from './terminal.js';

/** Installs what an npm script needs on a new machine, and runs it: `node main.js <script> [argument …]`. */

/** What each script runs, and the system programs that it needs besides npm packages. */
const SCRIPTS = {
  start: { program: 'packages/single-node/src/main.ts', systemPrograms: { forTests: false } },
  test: { program: 'infra/testing/run-checks.js', systemPrograms: { forTests: true } },
  doctor: { program: 'packages/framelane/src/doctor/checkout.ts' },
  admin: { program: 'packages/single-node/src/cli/admin.ts' },
  'rotate-secret': { program: 'packages/single-node/src/cli/rotate-secret.ts' },
};

const [script, ...args] = process.argv.slice(2);
const { program, systemPrograms } = SCRIPTS[script];
checkMachine();
const firstTime = !dependenciesAreInstalled();
const packages = systemPrograms ? systemPackagesToInstall({ ...systemPrograms, firstTime }) : undefined;
// Both end before this process does, also if one fails.
const outcomes = await Promise.allSettled([
  firstTime ? installDependencies() : undefined,
  packages ? installSystemPackages(packages) : undefined,
]);
const problems = outcomes.map(({ value, reason }) => reason?.message ?? value);
if (problems.some(Boolean)) fail(problems.filter(Boolean).join('\n\n'));
await runWithProjectNode(program, args);
