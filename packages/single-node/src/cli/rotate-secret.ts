import { CHECKOUT } from '../installation.ts';
import { runRotation } from './run-rotation.ts';

process.exitCode = await runRotation(CHECKOUT);
