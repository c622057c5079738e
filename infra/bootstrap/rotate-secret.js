import { checkMachine } from './check-machine.js';
import { installDependencies } from './install.js';
import { runWithProjectNode } from './run-with-project-node.js';

checkMachine();
await installDependencies();
await runWithProjectNode('packages/single-node/src/cli/rotate-secret.ts', process.argv.slice(2));
