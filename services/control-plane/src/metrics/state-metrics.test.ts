import { InProcessBus } from '@framelane/message-bus/in-process-bus';
import { createLogger } from '@framelane/service-kit/logger';
import { PrometheusText } from '@framelane/test-kit/prometheus-text';
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

test('every state of the work has its count, and the age of the oldest', async () => {
  const backlog = (count: number) => ({ count, oldestSeconds: 100 + count });
  const sources = {
    bus: new InProcessBus({ logger }),
    logger,
    attempts: { backlog: async () => ({ waiting: backlog(1), running: backlog(2) }) },
    tasks: {
      backlog: async (command: 'task' | 'background') =>
        command === 'task'
          ? { waiting: backlog(3), running: backlog(4) }
          : { waiting: backlog(15), running: backlog(16) },
    },
    imports: { backlog: async () => ({ waiting: backlog(5), running: backlog(6) }) },
    webhookDeliveries: { backlog: async () => ({ due: backlog(7), scheduled: 8 }) },
    background: [{ name: 'object-purges', backlog: async () => backlog(9) }],
    resealing: { pending: async () => ({ contentKeys: 10, webhookSecrets: 11, importRequests: 12 }) },
    lastBackup: async () => ({ ageSeconds: 17, missing: 18 }),
    pool: { totalCount: 20, idleCount: 13, waitingCount: 14 },
  } as unknown as ConstructorParameters<typeof StateMetrics>[1];
  const registry = new Registry();
  await new StateMetrics(registry, sources).refresh();
  const { series } = PrometheusText.parse(await registry.metrics());
  const states = (name: string, label: string, counts: Record<string, number>) =>
    Object.entries(counts).flatMap(([value, count]) => [
      [`${name}{${label}="${value}"}`, count],
      ...(value === 'scheduled' ? [] : [[`${name}_oldest_age_seconds{${label}="${value}"}`, 100 + count]]),
    ]);
  expect(Object.fromEntries(series)).toMatchObject({
    ...Object.fromEntries([
      ...states('framelane_videos_processing', 'state', { waiting: 1, running: 2 }),
      ...states('framelane_tasks_open', 'state', { waiting: 3, running: 4 }),
      ...states('framelane_optional_tasks_open', 'state', { waiting: 15, running: 16 }),
      ...states('framelane_imports_open', 'state', { waiting: 5, running: 6 }),
      ...states('framelane_webhook_deliveries_open', 'state', { due: 7, scheduled: 8 }),
      ...states('framelane_background_work', 'work', { 'object-purges': 9 }),
    ]),
    framelane_database_up: 1,
    'framelane_secrets_to_reseal{kind="content_key"}': 10,
    'framelane_secrets_to_reseal{kind="webhook_secret"}': 11,
    'framelane_secrets_to_reseal{kind="import_request"}': 12,
    framelane_backup_age_seconds: 17,
    framelane_backup_missing_objects: 18,
    'framelane_database_connections{state="idle"}': 13,
    'framelane_database_connections{state="in_use"}': 7,
    framelane_database_queries_waiting: 14,
  });
});
