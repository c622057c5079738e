import { InProcessBus } from '@framelane/message-bus/in-process-bus';
import { FileObjectStore } from '@framelane/object-store/file-object-store';
import { S3ObjectStore } from '@framelane/object-store/s3-object-store';
import { readS3Settings } from '@framelane/service-kit/connection-settings';
import { createLogger } from '@framelane/service-kit/logger';
import { readControlPlaneConfig } from '../../../src/config.ts';
import { ControlPlane } from '../../../src/control-plane.ts';
import { compete } from './contestant.ts';

/** A program: a control plane as on a single node, with objects in the directory OBJECTS, or in S3. */
const logger = createLogger({ service: 'control-plane' });
const config = readControlPlaneConfig(process.env);
// All viewers have one address.
config.analytics.beaconsPerMinute = 0;
const controlPlane = ControlPlane.create(config, {
  bus: new InProcessBus({ logger }),
  objects: process.env.OBJECTS
    ? new FileObjectStore(process.env.OBJECTS)
    : new S3ObjectStore(readS3Settings(process.env)),
  logger,
});
await controlPlane.migrate();
await controlPlane.bootstrap();
const { port } = await controlPlane.start();
compete(port);
