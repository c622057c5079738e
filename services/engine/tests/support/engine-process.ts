/**
 * An engine in its own process. It sends its port to the parent, and its peak memory on each request. It stores objects in the bucket
 * that the third argument describes as JSON, or in files.
 */
import { join } from 'node:path';
import { InProcessBus } from '@framelane/message-bus/in-process-bus';
import { FileObjectStore } from '@framelane/object-store/file-object-store';
import { S3ObjectStore } from '@framelane/object-store/s3-object-store';
import { Engine } from '../../src/engine.ts';
import { ONLY_RECEIVES, quietLogger, testConfig } from './test-engine.ts';

const [controlPlaneUrl = '', folder = '', bucket] = process.argv.slice(2);

const logger = quietLogger();
const bus = new InProcessBus({ logger });
await bus.consume('control-plane.events', { prefetch: 10 }, async () => {});
const objects =
  bucket === undefined ? new FileObjectStore(join(folder, 'objects')) : new S3ObjectStore(JSON.parse(bucket));
// The clients send in turn, so each waits for the slowest one.
const settings = { ...ONLY_RECEIVES, UPLOAD_IDLE_SECONDS: '600' };
const engine = Engine.create(testConfig(controlPlaneUrl, join(folder, 'work'), settings), {
  bus,
  objects,
  logger,
});
const { port } = await engine.start();

process.on('message', () => {
  // `maxRSS` is in kilobytes.
  process.send?.({ peakBytes: process.resourceUsage().maxRSS * 1024 });
});
process.on('disconnect', () => void engine.stop().then(() => process.exit()));
process.send?.({ port });
