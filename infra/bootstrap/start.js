import { checkMachine } from './check-machine.js';
import { installDependencies } from './install.js';
import { runWithProjectNode } from './run-with-project-node.js';
import { ensureSystemPrograms } from './system-programs.js';

checkMachine();
const firstTime = await installDependencies();
await ensureSystemPrograms({ firstTime });
await runWithProjectNode('packages/single-node/src/main.ts', process.argv.slice(2));
