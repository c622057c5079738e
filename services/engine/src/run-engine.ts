import { RabbitMqBus } from '@framelane/message-bus/rabbitmq-bus';
import { S3ObjectStore } from '@framelane/object-store/s3-object-store';
import { readAmqpUrl, readS3Settings } from '@framelane/service-kit/connection-settings';
import { runService } from '@framelane/service-kit/run-service';
import { reportUnavailable } from '@framelane/service-kit/until-available';
import { readEngineConfig } from './config.ts';
import { ControlPlaneClient } from './control-plane-client.ts';
import { Engine, stopLimitMs } from './engine.ts';

/** Runs an engine as the program of this process, with RabbitMQ and S3. */
export function runEngine(): Promise<never> {
  return runService('engine', async ({ env, logger, toStop, tracing, signal }) => {
    const config = readEngineConfig(env);
    const objects = new S3ObjectStore(readS3Settings(env));
    const bus = new RabbitMqBus({ url: readAmqpUrl(env), logger, declares: false });
    toStop.unshift({ name: 'message bus', limitMs: 5_000, run: () => bus.close() });
    const controlPlane = new ControlPlaneClient({
      baseUrl: config.controlPlaneUrl,
      secret: config.secrets.service,
    });
    reportUnavailable(
      {
        CONTROL_PLANE_INTERNAL_URL: () => controlPlane.check(),
        AMQP_URL: () => bus.check(),
        S3_ENDPOINT: () => objects.check(),
      },
      { logger, signal },
    );
    const engine = Engine.create(config, { bus, objects, logger, tracing });
    toStop.unshift({ name: 'engine', limitMs: stopLimitMs(config), run: () => engine.stop() });
    await engine.start();
  });
}
