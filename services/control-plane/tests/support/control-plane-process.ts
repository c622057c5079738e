import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { InProcessBus } from '@framelane/message-bus/in-process-bus';
import { FileObjectStore } from '@framelane/object-store/file-object-store';
import { createLogger } from '@framelane/service-kit/logger';
import { readControlPlaneConfig } from '../../src/config.ts';
import { ControlPlane } from '../../src/control-plane.ts';
import { localWebhooks } from './webhooks.ts';

/**
 * A program: a control plane in a process of its own, to be killed. Works on the database in DATABASE_URL and prints its
 * two ports once it serves. Its clock is CLOCK_OFFSET_SECONDS ahead.
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
  CONTENT_KEY_SECRET: randomBytes(32).toString('base64'),
});
const bus = new InProcessBus({ logger, redeliveryDelayMs: 10 });
const objects = new FileObjectStore(tmpdir());
const { port, internalPort } = await ControlPlane.create(localWebhooks(config), {
  bus,
  objects,
  logger,
}).start();
process.stdout.write(`${port} ${internalPort}\n`);

function shiftClock(ms: number): void {
  if (ms === 0) return;
  const RightDate = Date;
  globalThis.Date = new Proxy(RightDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [RightDate.now() + ms] : args, newTarget),
    get: (target, name, receiver) =>
      name === 'now' ? () => RightDate.now() + ms : Reflect.get(target, name, receiver),
  });
}
