import { CHECKOUT } from '@framelane/single-node/installation';
import { Command } from 'commander';
import { addDoctorCommand } from './doctor-command.ts';

/** `npm run doctor` of a checkout. */

const program = new Command('npm run');
addDoctorCommand(program, CHECKOUT);
await program.parseAsync(['doctor', ...process.argv.slice(2)], { from: 'user' });
