import { createMessage, type MessageOf } from '@framelane/contracts/messages';
import { InProcessBus } from '@framelane/message-bus/in-process-bus';
import type { Consumer, MessageBus, MessageHandler } from '@framelane/message-bus/message-bus';
import { createLogger } from '@framelane/service-kit/logger';
import { until } from '@framelane/test-kit/until';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { CommandIntake } from './command-intake.ts';
import { InsufficientDiskSpaceError } from './insufficient-disk-space.ts';

const logger = createLogger({ service: 'test', level: 'silent' });

const COMMANDS = { queue: 'engine.commands', hasPriorityWork: () => false } as const;

let bus: InProcessBus;
beforeEach(() => {
  bus = new InProcessBus({ logger, redeliveryDelayMs: 1 });
});
afterEach(() => bus.close());

/** An intake whose disk space is given, and the videos it took. */
async function intakeWith(disk: { free: boolean }, diskCheckMs = 1) {
  const taken: string[] = [];
  const hasDiskSpace = jest.fn(async () => disk.free);
  const intake = new CommandIntake({
    ...COMMANDS,
    bus,
    slots: 1,
    hasDiskSpace,
    logger,
    diskCheckMs,
    handle: async ({ data }) => void taken.push(data.videoId),
  });
  await intake.start();
  return { taken, hasDiskSpace, stop: () => intake.stop() };
}

function command(videoId: string): MessageOf<'plan'> {
  return createMessage('plan', {
    videoId,
    workspaceId: 'ws',
    inputBytes: 1,
    waitingSince: new Date().toISOString(),
  });
}

async function send(videoId: string): Promise<void> {
  await bus.publish(command(videoId));
}

test('without disk space, other engines take the commands', async () => {
  const full = await intakeWith({ free: false });
  await send('vid_1');
  const other = await intakeWith({ free: true });
  await send('vid_2');
  await until(() => other.taken.length === 2);
  expect(full.taken).toEqual([]);
  await Promise.all([full.stop(), other.stop()]);
});

test('commands wait until there is disk space again', async () => {
  const disk = { free: false };
  const consume = jest.spyOn(bus, 'consume');
  const only = await intakeWith(disk);
  await send('vid_1');
  await until(() => only.hasDiskSpace.mock.calls.length >= 5);
  expect(consume).toHaveBeenCalledTimes(1);
  disk.free = true;
  await until(() => only.taken.length === 1);
  await only.stop();
});

test('a stop does not wait for disk space', async () => {
  const full = await intakeWith({ free: false }, 1_000_000);
  await send('vid_1');
  await until(() => full.hasDiskSpace.mock.calls.length === 1);
  await full.stop();
  expect(full.taken).toEqual([]);
});

test('a stop during a resumption ends the new subscription', async () => {
  const disk = { free: false };
  const only = await intakeWith(disk);
  const { promise: subscribed, resolve: subscribe } = Promise.withResolvers<Consumer>();
  const consume = jest.spyOn(bus, 'consume').mockReturnValueOnce(subscribed);
  await send('vid_1');
  disk.free = true;
  await until(() => consume.mock.calls.length === 1);
  const stopped = only.stop();
  const stopConsumer = jest.fn(async () => {});
  subscribe({ stop: stopConsumer });
  await stopped;
  expect(stopConsumer).toHaveBeenCalledTimes(1);
});

test('a failed check of the disk and a failed subscription are retried', async () => {
  const checks = [async () => false, () => Promise.reject(new Error('EIO')), async () => true];
  const taken: string[] = [];
  const intake = new CommandIntake({
    ...COMMANDS,
    bus,
    slots: 1,
    hasDiskSpace: () => (checks.shift() ?? (async () => true))(),
    handle: async ({ data }) => void taken.push(data.videoId),
    logger,
    diskCheckMs: 1,
  });
  await intake.start();
  const consume = jest.spyOn(bus, 'consume').mockRejectedValueOnce(new Error('No queue'));
  await send('vid_1');
  await until(() => taken.length === 1);
  expect(checks).toEqual([]);
  expect(consume).toHaveBeenCalledTimes(2);
  await intake.stop();
});

test('a slot runs one job, even if the broker redelivers its command', async () => {
  let deliver: MessageHandler = async () => {};
  const redelivering: Pick<MessageBus, 'consume'> = {
    consume: async (_queue, { prefetch }, handler) => {
      expect(prefetch).toBe(1);
      deliver = handler;
      return { stop: async () => {} };
    },
  };
  const jobs: { videoId: string; end: () => void }[] = [];
  const intake = new CommandIntake({
    ...COMMANDS,
    bus: redelivering as MessageBus,
    slots: 1,
    hasDiskSpace: async () => true,
    handle: ({ data }) => new Promise<void>((resolve) => jobs.push({ videoId: data.videoId, end: resolve })),
    logger,
  });
  await intake.start();
  const deliveries = ['vid_1', 'vid_1', 'vid_2'].map((videoId) =>
    deliver(command(videoId), { redelivered: true }),
  );
  await until(() => jobs[0]);
  await new Promise(setImmediate);
  expect(jobs).toHaveLength(1);
  jobs[0]?.end();
  await deliveries[0];
  await until(() => jobs[1]);
  expect(jobs).toHaveLength(2);
  // At a stop, a command that waits for the slot is requeued.
  const stopped = intake.stop();
  jobs[1]?.end();
  await expect(deliveries[2]).rejects.toThrow();
  await stopped;
  expect(jobs).toHaveLength(2);
});

test('a free slot resumes while the job of another slot runs', async () => {
  const disk = { free: true };
  const taken: string[] = [];
  const { promise: end, resolve: endLongJob } = Promise.withResolvers<void>();
  const intake = new CommandIntake({
    ...COMMANDS,
    bus,
    slots: 2,
    hasDiskSpace: async () => disk.free,
    handle: async ({ data }) => {
      taken.push(data.videoId);
      if (data.videoId === 'long') await end;
    },
    logger,
    diskCheckMs: 1,
  });
  await intake.start();
  await send('long');
  await until(() => taken[0]);
  disk.free = false;
  const warn = jest.spyOn(logger, 'warn');
  await send('short');
  await until(() => warn.mock.calls.find(([event]) => (event as unknown) === 'commands.paused'));
  warn.mockRestore();
  disk.free = true;
  await until(() => taken[1]);
  expect(taken).toEqual(['long', 'short']);
  endLongJob();
  await intake.stop();
});

test('pause and resumption of all slots are logged once', async () => {
  const disk = { free: false };
  const events: unknown[] = [];
  const spies = (['warn', 'info'] as const).map((level) =>
    jest.spyOn(logger, level).mockImplementation(((event: string) => {
      if (event.startsWith('commands.')) events.push(event);
      return logger;
    }) as unknown as typeof logger.info),
  );
  const consume = jest.spyOn(bus, 'consume');
  const intake = new CommandIntake({
    ...COMMANDS,
    bus,
    slots: 2,
    hasDiskSpace: async () => disk.free,
    handle: async () => {},
    logger,
    diskCheckMs: 1,
  });
  await intake.start();
  await Promise.all([send('vid_1'), send('vid_2')]);
  await until(() => events[0]);
  disk.free = true;
  await until(() => consume.mock.calls.length === 4);
  await intake.stop();
  for (const spy of [...spies, consume]) spy.mockRestore();
  expect(events).toEqual(['commands.paused', 'commands.resumed']);
});

test('a halt while an intake checks the disk is not lost', async () => {
  const busy = { now: false };
  const hasPriorityWork = jest.fn(() => busy.now);
  const checks: (() => void)[] = [];
  const check = () => new Promise<boolean>((resolve) => checks.push(() => resolve(true)));
  const stopConsumer = jest.fn(async () => {});
  const consume = jest.spyOn(bus, 'consume').mockResolvedValue({ stop: stopConsumer });
  const intake = new CommandIntake({
    bus,
    queue: 'engine.tasks',
    slots: 1,
    logger,
    waitCheckMs: 1,
    hasDiskSpace: check,
    hasPriorityWork,
    handle: async () => {},
  });
  await intake.start();
  intake.halt();
  await until(() => checks[0]);
  busy.now = true;
  hasPriorityWork.mockClear();
  intake.halt();
  checks[0]?.();
  await until(() => hasPriorityWork.mock.calls.length >= 2);
  expect(consume).toHaveBeenCalledTimes(1);
  expect(checks).toHaveLength(1);
  busy.now = false;
  await until(() => checks[1]);
  checks[1]?.();
  await until(() => consume.mock.calls.length === 2);
  expect(stopConsumer).toHaveBeenCalledTimes(1);
  consume.mockRestore();
  await intake.stop();
});

test('a halt during a stop does not delay the stop', async () => {
  const checks: (() => void)[] = [];
  const stopConsumer = jest.fn(async () => {});
  const consume = jest.spyOn(bus, 'consume').mockResolvedValue({ stop: stopConsumer });
  const intake = new CommandIntake({
    ...COMMANDS,
    bus,
    slots: 1,
    logger,
    waitCheckMs: 1,
    handle: async () => {},
    hasDiskSpace: () => new Promise<boolean>((resolve) => checks.push(() => resolve(true))),
  });
  await intake.start();
  intake.halt();
  await until(() => checks[0]);
  const stopped = intake.stop();
  // As of a job in another slot that finds too little disk space.
  intake.halt();
  checks[0]?.();
  await stopped;
  expect([consume, stopConsumer].map(({ mock }) => mock.calls.length)).toEqual([2, 2]);
  consume.mockRestore();
});

test('an engine continues after a job that failed for another reason than disk space', async () => {
  const attempts: string[] = [];
  const consume = jest.spyOn(bus, 'consume');
  const intake = new CommandIntake({
    ...COMMANDS,
    bus,
    slots: 1,
    logger,
    hasDiskSpace: async () => true,
    waitCheckMs: 1,
    handle: async ({ data }) => {
      attempts.push(data.videoId);
      if (attempts.length === 1) throw new Error('The broker is unavailable');
    },
  });
  await intake.start();
  await send('vid_1');
  await until(() => attempts.length === 2);
  await intake.stop();
  expect(consume).toHaveBeenCalledTimes(1);
  consume.mockRestore();
});

test('an engine that leaves a command to others pauses, so that another engine takes it', async () => {
  const intakeOf = (handle: MessageHandler, waitCheckMs: number) =>
    new CommandIntake({
      ...COMMANDS,
      bus,
      slots: 1,
      hasDiskSpace: async () => true,
      logger,
      handle,
      waitCheckMs,
    });
  const refused: boolean[] = [];
  const small = intakeOf(async (_, { redelivered }) => {
    refused.push(redelivered);
    throw new InsufficientDiskSpaceError();
  }, 1_000_000);
  await small.start();
  const taken: string[] = [];
  const large = intakeOf(async ({ data }) => void taken.push(data.videoId), 1);
  await large.start();
  for (const videoId of ['vid_1', 'vid_2', 'vid_3', 'vid_4']) await send(videoId);
  await until(() => taken.length === 4);
  expect(refused).toEqual([false]);
  await Promise.all([small.stop(), large.stop()]);
});

test('a halted slot continues as soon as the work with priority has ended', async () => {
  const busy = { now: true };
  const consume = jest.spyOn(bus, 'consume');
  const intake = new CommandIntake({
    ...COMMANDS,
    bus,
    slots: 1,
    hasDiskSpace: async () => true,
    hasPriorityWork: () => busy.now,
    handle: async () => {},
    logger,
    waitCheckMs: 1_000_000,
  });
  await intake.start();
  intake.halt();
  intake.recheck();
  expect(consume).toHaveBeenCalledTimes(1);
  busy.now = false;
  await until(() => {
    intake.recheck();
    return consume.mock.calls.length === 2;
  });
  consume.mockRestore();
  await intake.stop();
});
