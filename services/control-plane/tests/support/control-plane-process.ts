import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { InProcessBus } from '@framelane/message-bus/in-process-bus';
import { FileObjectStore } from '@framelane/object-store/file-object-store';
import { createLogger } from '@framelane/service-kit/logger';
import { readControlPlaneConfig } from '../../src/config.ts';
import { ControlPlane } from '../../src/control-plane.ts';
import { shiftClock } from './shift-clock.ts';
import { localWebhooks } from './webhooks.ts';

/**
 * A program that runs a control plane on the database in DATABASE_URL, so that tests can kill it. It prints its two ports
 * when it serves. Its clock is CLOCK_OFFSET_SECONDS ahead.
 */

shiftClock(Number(process.env.CLOCK_OFFSET_SECONDS ?? 0) * 1000);

const logger = createLogger({ service: 'control-plane', level: 'silent' });
const config = readControlPlaneConfig({
  ...process.env,
  PORT: '0',
  INTERNAL_PORT: '0',
  PUBLIC_URL: 'http://framelane.test',
  ENGINE_PUBLIC_URL: 'http://engine.framelane.test',
  SERVICE_SECRET: 'tests-only-service-secret-of-32-chars',
  CONTENT_KEY_SECRET: process.env.CONTENT_KEY_SECRET ?? randomBytes(32).toString('base64'),
});
const bus = new InProcessBus({ logger, redeliveryDelayMs: 10 });
const objects = new FileObjectStore(tmpdir());
const controlPlane = ControlPlane.create(localWebhooks(config), { bus, objects, logger });
await controlPlane.migrate();
const { port, internalPort } = await controlPlane.start();
process.stdout.write(`${port} ${internalPort}\n`);
