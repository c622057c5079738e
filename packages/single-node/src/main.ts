import { CHECKOUT } from './installation.ts';
import { runNode } from './run-node.ts';

await runNode(process.argv.slice(2), CHECKOUT);
