import { readDatabase } from '@framelane/faults/database-state';
import type { Snapshot } from '@framelane/faults/snapshot';
import { violations as violationsOf } from '@framelane/faults/violations';
import { WebhookEndpoint } from '@framelane/faults/webhook-endpoint';
import type pg from 'pg';
import { Driver } from './driver.ts';
import { ScheduledDatabase } from './scheduled-database.ts';
import type { Run } from './simulate.ts';
import { SimulatedBroker } from './simulated-bus.ts';
import { SimulatedNetwork } from './simulated-network.ts';
import { SimulatedStore } from './simulated-store.ts';
import { createServices, type Service } from './system.ts';
import { unhandledFailure } from './unhandled-failure.ts';
import { Workload } from './workload.ts';
import type { World } from './world.ts';

/** Between two checks of the rest, in virtual milliseconds. */
const CHECK_MS = 10_000;

/** Runs clients and faults until all clients are served, ends the faults, and checks what remains once all is at rest. */
export async function runScenario(
  { clients, clockFile, databaseUrl, workDir }: Run,
  world: World,
  monitor: pg.Client,
  restMs: number,
): Promise<{ violations: string[]; statements: number }> {
  const { time, random, faults } = world;
  const database = new ScheduledDatabase(world, { monitor, clockFile });
  const driver = new Driver(world, database);
  const broker = new SimulatedBroker(world);
  const store = new SimulatedStore(world);
  const network = new SimulatedNetwork(world);
  network.install();
  const services = createServices({ world, database, databaseUrl, broker, store, network, workDir });
  const workload = new Workload(world);
  const snapshot = async (endpoint: WebhookEndpoint): Promise<Snapshot> => ({
    ...(await readDatabase({ query: async (text) => (await monitor.query(text)).rows })),
    objects: store.sizes(),
    unfinishedUploads: store.unfinished(),
    messages: broker.held(),
    delivered: [...endpoint.events.values()],
    reusedEventIds: [...endpoint.reusedIds],
    ffmpegs: [],
    jobDirectories: [],
    sentBytes: 0,
    died: [],
    serverErrors: [],
  });

  const scenario = async (): Promise<string[]> => {
    for (const service of services) await service.start();
    const endpoint = await WebhookEndpoint.start();
    await workload.addWebhook(endpoint.url);
    const ending = Promise.withResolvers<void>();
    const kills = services.map((service) => killRepeatedly(service, world, ending.promise));
    const running: Promise<void>[] = [];
    let served = 0;
    for (let client = 1; client <= clients; client += 1) {
      const isServed = workload.run(`client-${client}`).then(() => {
        served += 1;
      });
      running.push(isServed);
      await time.sleep(random.below(30_000));
    }
    await Promise.race([Promise.all(running), time.sleep(30 * 60_000)]);
    world.history.say('world', 'the faults end');
    ending.resolve();
    faults.end();
    await Promise.all(kills);
    const deadline = time.now() + restMs;
    for (;;) {
      await time.sleep(CHECK_MS);
      const state = await driver.outside(() => snapshot(endpoint));
      const found = [...violationsOf(state), ...lost(state, workload), ...unserved(clients - served)];
      if (found.length === 0 || time.now() > deadline) return found;
    }
  };
  const remaining = await driver
    .drive(Promise.race([scenario(), unhandledFailure()]))
    .catch((error: unknown) => [`crashed: ${error instanceof Error ? error.stack : String(error)}`]);
  for (const violation of remaining) world.history.say('VIOLATION', violation);
  for (const service of services) await service.kill();
  return { violations: [...workload.contradictions, ...remaining], statements: database.statements };
}

/** Once nothing fails any more, each client sees the end of its video, or its deletion. */
function unserved(clients: number): string[] {
  return clients === 0 ? [] : [`clients still wait, although nothing fails any more: ${clients}`];
}

/** What clients were told and is not so. */
function lost({ videos }: Snapshot, { videos: known }: Workload): string[] {
  const stored = new Map(videos.map((video) => [video.id, video]));
  return [...known.values()].flatMap(({ id, accepted, ready, deleted }) => {
    const video = stored.get(id);
    if (video === undefined) return [`${id} has no row`];
    if (deleted === true && !video.deleted) return [`${id} was deleted, and is there`];
    if (deleted === false && video.deleted) return [`nobody has deleted ${id}`];
    if (ready && !video.deleted && video.status !== 'ready')
      return [`${id} was ready, and is ${video.status}`];
    if (accepted && !video.deleted && !video.uploaded) return [`${id} was accepted, and has no file`];
    return [];
  });
}

/** Kills a service at any moment and starts it again. Resolves once it runs after the last kill. */
async function killRepeatedly(service: Service, world: World, ending: Promise<void>): Promise<void> {
  const { time, random, faults, history } = world;
  for (;;) {
    const isDue = time.sleep(random.below(240_000)).then(() => true);
    if (!(await Promise.race([isDue, ending]))) return;
    faults.count('kill');
    history.say('world', `kills ${service.name}`);
    await service.kill();
    await time.sleep(500 + random.below(45_000));
    history.say('world', `starts ${service.name}`);
    await service.start();
  }
}
