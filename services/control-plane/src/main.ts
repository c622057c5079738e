import { runControlPlane } from './run-control-plane.ts';

await runControlPlane();
