import { InProcessBus } from '@framelane/message-bus/in-process-bus';
import { FileObjectStore } from '@framelane/object-store/file-object-store';
import { createLogger } from '@framelane/service-kit/logger';
import { readControlPlaneConfig } from '../../../src/config.ts';
import { ControlPlane } from '../../../src/control-plane.ts';
import { compete } from './contestant.ts';

/** A program: a control plane as on a single node, with objects in the directory OBJECTS. */
const logger = createLogger({ service: 'control-plane' });
const controlPlane = ControlPlane.create(readControlPlaneConfig(process.env), {
  bus: new InProcessBus({ logger }),
  objects: new FileObjectStore(process.env.OBJECTS ?? ''),
  logger,
});
await controlPlane.migrate();
await controlPlane.bootstrap();
const { port } = await controlPlane.start();
compete(port);
