import { runControlPlaneAdmin } from './run-control-plane-admin.ts';

process.exitCode = await runControlPlaneAdmin(process.argv.slice(2), 'admin');
