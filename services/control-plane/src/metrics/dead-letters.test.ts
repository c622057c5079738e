import { InProcessBus } from '@framelane/message-bus/in-process-bus';
import { createLogger } from '@framelane/service-kit/logger';
import { expect, jest, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { DeadLetterMetrics } from './dead-letters.ts';

const logger = createLogger({ service: 'test' });
logger.silent = true;

test('are there for one scrape while the broker is asked for another', async () => {
  const bus = new InProcessBus({ logger });
  const registry = new Registry();
  const metrics = new DeadLetterMetrics(registry, { bus, logger });
  await metrics.refresh();
  const { promise: answer, resolve } = Promise.withResolvers<number>();
  jest.spyOn(bus, 'countDeadLetters').mockReturnValue(answer);
  const refreshing = metrics.refresh();

  expect(await registry.metrics()).toContain('framelane_dead_letters{queue="engine.commands.dead"} 0');

  resolve(7);
  await refreshing;
  expect(await registry.metrics()).toContain('framelane_dead_letters{queue="engine.commands.dead"} 7');
});
