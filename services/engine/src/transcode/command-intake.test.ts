import { createMessage } from '@framelane/contracts/messages';
import { InProcessBus } from '@framelane/message-bus/in-process-bus';
import { createLogger } from '@framelane/service-kit/logger';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { until } from '../../tests/support/until.ts';
import { CommandIntake } from './command-intake.ts';

const logger = createLogger({ service: 'test', level: 'silent' });

let bus: InProcessBus;
beforeEach(() => {
  bus = new InProcessBus({ logger, redeliveryDelayMs: 1 });
});
afterEach(() => bus.close());

/** An intake of its own room, and the videos it took. */
async function intakeWith(room: { free: boolean }) {
  const taken: string[] = [];
  const intake = new CommandIntake({
    bus,
    slots: 1,
    hasRoom: async () => room.free,
    handle: async ({ data }) => void taken.push(data.videoId),
    logger,
    roomCheckMs: 1,
  });
  await intake.start();
  return { intake, taken, stop: () => intake.stop() };
}

async function send(videoId: string): Promise<void> {
  await bus.publish(createMessage('transcode', { videoId, workspaceId: 'ws', sourceKey: 'sources/s' }));
}

test('without room commands go to others', async () => {
  const full = await intakeWith({ free: false });
  await send('vid_1');
  const other = await intakeWith({ free: true });
  await send('vid_2');
  await until('both videos', () => other.taken.length === 2 || undefined);
  expect(full.taken).toEqual([]);
  await Promise.all([full.stop(), other.stop()]);
});

test('commands wait until there is room again', async () => {
  const room = { free: false };
  const only = await intakeWith(room);
  await send('vid_1');
  room.free = true;
  await until('the video', () => only.taken.length === 1 || undefined);
  await only.stop();
});

test('a stop does not wait for room', async () => {
  const full = await intakeWith({ free: false });
  await send('vid_1');
  await full.stop();
  expect(full.taken).toEqual([]);
});

test('a look for room that fails, and a queue that cannot be had, are tried again', async () => {
  const looks = [async () => false, () => Promise.reject(new Error('EIO')), async () => true];
  const taken: string[] = [];
  const intake = new CommandIntake({
    bus,
    slots: 1,
    hasRoom: () => (looks.shift() ?? (async () => true))(),
    handle: async ({ data }) => void taken.push(data.videoId),
    logger,
    roomCheckMs: 1,
  });
  await intake.start();
  const consume = jest.spyOn(bus, 'consume').mockRejectedValueOnce(new Error('No queue'));
  await send('vid_1');
  await until('the video', () => taken.length === 1 || undefined);
  expect(looks).toEqual([]);
  expect(consume).toHaveBeenCalledTimes(2);
  await intake.stop();
});
