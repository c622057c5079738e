import { RabbitMqBus } from '@framelane/message-bus/rabbitmq-bus';
import { S3ObjectStore } from '@framelane/object-store/s3-object-store';
import { readAmqpUrl, readS3Settings } from '@framelane/service-kit/connection-settings';
import { runService } from '@framelane/service-kit/run-service';
import { reportUnavailable } from '@framelane/service-kit/until-available';
import { type ControlPlaneConfig, readControlPlaneConfig } from './config.ts';
import { ControlPlane } from './control-plane.ts';
import { STOP_LIMIT_MS } from './stop-limits.ts';

/**
 * Runs a control plane as the program of this process, with RabbitMQ and S3. Tests that start the program pass a function that changes
 * the configuration, because nobody else needs other times than those of `readControlPlaneConfig`.
 */
export function runControlPlane(
  readConfig: (env: NodeJS.ProcessEnv) => ControlPlaneConfig = readControlPlaneConfig,
): Promise<never> {
  return runService('control-plane', async ({ env, logger, toStop, tracing, signal }) => {
    const config = readConfig(env);
    const objects = new S3ObjectStore(readS3Settings(env));
    const bus = new RabbitMqBus({ url: readAmqpUrl(env), logger });
    toStop.unshift({ name: 'message bus', limitMs: 5_000, run: () => bus.close() });
    reportUnavailable(
      { AMQP_URL: () => bus.check(), S3_ENDPOINT: () => objects.check() },
      { logger, signal },
    );
    const controlPlane = ControlPlane.create(config, { bus, objects, logger, tracing, starting: signal });
    toStop.unshift({ name: 'control plane', limitMs: STOP_LIMIT_MS, run: () => controlPlane.stop() });
    await controlPlane.migrate();
    // Nobody would see a generated secret. Without a given key, an administrator creates one with the command line.
    if (config.bootstrap.apiKey !== undefined) await controlPlane.bootstrap();
    const ports = await controlPlane.start();
    logger.info('control-plane.started', ports);
  });
}
