import { createLogger } from '@framelane/service-kit/logger';
import { expect, jest, test } from '@jest/globals';
import { encoderOfCodec } from '../encoders/encoders.ts';
import type { HardwareRun } from '../ffmpeg/hardware-run.ts';
import { planLadder } from '../plan/ladder.ts';
import { DeviceError } from '../sandbox/device-access.ts';
import type { DeviceOutcome } from './device-outcome.ts';
import { HardwareDevice } from './hardware-device.ts';

const CODEC = 'h264';
const FULL = planLadder({ width: 1920, height: 1080 }, 25);

/** An engine with NVENC, whose first probes end with these results. The others succeed. */
async function start(...probes: (Error | undefined)[]) {
  const logger = createLogger({ service: 'test' });
  logger.silent = true;
  const [variant] = encoderOfCodec(CODEC).hardware.nvenc?.variants ?? [];
  const variants: HardwareRun['variants'] = new Map(variant ? [[CODEC, variant]] : []);
  const probe = jest.fn(async () => {
    const failure = probes.shift();
    if (failure) throw failure;
    return variants;
  });
  const outcomes: DeviceOutcome[] = [];
  const ready: boolean[] = [];
  const device = await HardwareDevice.start({
    device: { hardware: 'nvenc', device: '/dev/nvidia0' },
    probe,
    logger,
    onOutcome: (outcome) => outcomes.push(outcome),
    onReady: (isReady) => ready.push(isReady),
  });
  return { device, probe, outcomes, ready, variants };
}

test('a device that passes the probe is used, with the variants that were found', async () => {
  const { device, outcomes, ready, variants } = await start();
  const use = await device.take(FULL);
  expect(use?.run).toEqual({ hardware: 'nvenc', device: '/dev/nvidia0', variants });
  use?.encoded();
  expect({ outcomes, ready, refusal: device.refusal }).toEqual({
    outcomes: ['encoded'],
    ready: [true],
    refusal: null,
  });
});

test('a device that fails the probe is refused with the reason, and not probed again', async () => {
  const { device, probe, outcomes, ready } = await start(new DeviceError('It is broken.'));
  expect(await device.take(FULL)).toBeNull();
  expect(await device.take(FULL)).toBeNull();
  expect(device.refusal).toBe('It is broken.');
  expect({ outcomes, ready }).toEqual({ outcomes: ['refused', 'refused'], ready: [false] });
  expect(probe).toHaveBeenCalledTimes(1);
});

test('an aborted probe is no refusal', async () => {
  await expect(start(new Error('Stopped'))).rejects.toThrow('Stopped');
});

test('a device encodes as many renditions at a time as it has sessions', async () => {
  const { device, outcomes } = await start();
  const first = await device.take(FULL);
  const second = await device.take(FULL);
  expect(await device.take(FULL.slice(0, 1))).toBeNull();
  first?.release();
  first?.release();
  expect(await device.take([...FULL, ...FULL.slice(0, 1)])).toBeNull();
  expect(await device.take(FULL)).not.toBeNull();
  second?.release();
  expect(outcomes).toEqual(['busy', 'busy']);
});

test.each([
  [{ width: 144, height: 256 }, 'unfit'],
  [{ width: 256, height: 144 }, 'unfit'],
  [{ width: 4320, height: 1080 }, 'unfit'],
  [{ width: 4096, height: 1080 }, undefined],
  [{ width: 146, height: 146 }, undefined],
])('frames of %j are encoded by the device, or %s for it', async (size, outcome) => {
  const { device, outcomes } = await start();
  await device.take(planLadder(size, 25));
  expect(outcomes[0]).toBe(outcome);
});

test('a video without encoded renditions does not concern the device', async () => {
  const { device, outcomes } = await start();
  expect(await device.take([])).toBeNull();
  expect(outcomes).toEqual([]);
});

test('after a failure, videos that begin at the same time wait for one probe', async () => {
  const { device, probe, outcomes, ready } = await start();
  const use = await device.take(FULL);
  use?.failed();
  use?.release();
  const uses = await Promise.all([device.take(FULL), device.take(FULL)]);
  expect(uses).not.toContain(null);
  expect(probe).toHaveBeenCalledTimes(2);
  for (const each of uses) each?.release();
  expect(await device.take(FULL)).not.toBeNull();
  expect(probe).toHaveBeenCalledTimes(2);
  expect({ outcomes, ready }).toEqual({ outcomes: ['failed'], ready: [true, true] });
});

test('a device that fails the probe after a failure keeps no session', async () => {
  const { device, outcomes } = await start(undefined, new DeviceError('It is gone.'));
  const use = await device.take(FULL);
  use?.failed();
  use?.release();
  expect(await device.take(FULL)).toBeNull();
  expect(await device.take([...FULL, ...FULL])).toBeNull();
  expect(outcomes).toEqual(['failed', 'refused', 'refused']);
  expect(device.refusal).toBe('It is gone.');
});
