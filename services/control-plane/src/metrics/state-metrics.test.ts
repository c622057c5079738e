import { InProcessBus } from '@framelane/message-bus/in-process-bus';
import { createLogger } from '@framelane/service-kit/logger';
import { expect, jest, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { StateMetrics } from './state-metrics.ts';

const logger = createLogger({ service: 'test' });
logger.silent = true;

test('a scrape during a refresh finds the previous dead letter counts', async () => {
  const bus = new InProcessBus({ logger });
  const registry = new Registry();
  // Everything else is missing, like a database that is down.
  const sources = { bus, logger } as unknown as ConstructorParameters<typeof StateMetrics>[1];
  const metrics = new StateMetrics(registry, sources);
  const deadLetters = () => registry.getSingleMetricAsString('framelane_dead_letters');
  await metrics.refresh();
  const { promise, resolve } = Promise.withResolvers<number>();
  jest.spyOn(bus, 'countDeadLetters').mockReturnValue(promise);
  const refreshing = metrics.refresh();

  expect(await deadLetters()).toContain('framelane_dead_letters{queue="engine.commands.dead"} 0');

  resolve(7);
  await refreshing;
  expect(await deadLetters()).toContain('framelane_dead_letters{queue="engine.commands.dead"} 7');
});
