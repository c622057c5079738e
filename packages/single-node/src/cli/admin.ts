import { CHECKOUT } from '../installation.ts';
import { runNodeAdmin } from './run-node-admin.ts';

process.exitCode = await runNodeAdmin(process.argv.slice(2), CHECKOUT);
