import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { HARDWARE, type Hardware } from '@framelane/contracts/hardware';
import { createLogger } from '@framelane/service-kit/logger';
import { requires } from '@framelane/test-kit/requires';
import { runProgram } from '@framelane/test-kit/run-program';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { encoderOfCodec } from '../../src/encoders/encoders.ts';
import { type MediaTools, prepareMediaTools } from '../../src/ffmpeg/media-tools.ts';
import { findDevice } from '../../src/hardware/find-device.ts';
import { probeDevice } from '../../src/hardware/probe-device.ts';
import { DEFAULT_MAX_RATES } from '../../src/plan/ladder.ts';
import { DeviceError } from '../../src/sandbox/device-access.ts';
import { DEFAULT_TRANSCODE_LIMITS } from '../../src/transcode-settings.ts';
import { type Behaviour, FAKE_DEVICE, FakeDeviceFfmpeg } from '../support/fake-device.ts';

/** Options of ffmpeg for all encoders. */
const GENERIC_OPTIONS = ['-b', '-bf', '-flags', '-level'];

let directory: string;
let fake: FakeDeviceFfmpeg;
let tools: MediaTools;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'probe-device-'));
  await mkdir(join(directory, 'jobs'));
  fake = await FakeDeviceFfmpeg.install();
  tools = await prepareTools();
});
afterAll(async () => {
  await fake.uninstall();
  await rm(directory, { recursive: true });
});

/** Prepares the tools as an engine with a device does. They use the ffmpeg that is first in PATH. */
async function prepareTools(): Promise<MediaTools> {
  const logger = createLogger({ service: 'test' });
  logger.silent = true;
  const found = await findDevice({ kind: 'vaapi', device: FAKE_DEVICE });
  if (found instanceof DeviceError) throw found;
  const settings = { workDir: directory, sandbox: 'none' as const, limits: DEFAULT_TRANSCODE_LIMITS };
  return prepareMediaTools(settings, logger, found);
}

/** Probes as an engine does at its start. Resolves with the names of the variants, by codec. */
async function probe(hardware: Hardware, prepared = tools): Promise<Record<string, string>> {
  const { signal } = new AbortController();
  const variants = await probeDevice(
    { hardware, device: FAKE_DEVICE },
    { tools: prepared, maxRates: DEFAULT_MAX_RATES, jobsDir: join(directory, 'jobs'), signal },
  );
  return Object.fromEntries([...variants].map(([codec, { name }]) => [codec, name]));
}

test.each([
  ['vaapi', {}, { h264: 'standard' }],
  ['vaapi', { 'low-power-only': true }, { h264: 'low power' }],
  ['qsv', {}, { h264: 'B-frames' }],
  ['nvenc', { sessions: 4 }, { h264: 'B-frames' }],
  ['nvenc', { 'no-b-frames': true }, { h264: 'no B-frames' }],
] as [Hardware, Behaviour, object][])(
  'a device with %s that does %j has the variants %j',
  async (...args) => {
    const [hardware, behaviour, variants] = args;
    await fake.behave(behaviour);
    expect(await probe(hardware)).toEqual(variants);
    expect(await readdir(join(directory, 'jobs'))).toEqual([]);
  },
);

test.each([
  [
    'vaapi',
    { says: '[h264_vaapi @ 0x1] No usable encoding profile found.' },
    'does not encode in this codec',
  ],
  ['nvenc', { sessions: 3 }, 'encodes no more renditions at a time'],
  ['vaapi', { 'ignores-key-frames': true }, 'ignored a forced key frame in 360p'],
  ['vaapi', { 'open-gop': true }, 'could not begin at a forced key frame of the device in 360p'],
  ['vaapi', { green: true }, 'encodes other pictures than it gets'],
  ['vaapi', { level: '5.1' }, 'declares the level 5.1, above 4.2'],
] as [Hardware, Behaviour, string][])('a device with %s that does %j is refused', async (...args) => {
  const [hardware, behaviour, reason] = args;
  await fake.behave(behaviour);
  const refusal: unknown = await probe(hardware).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(DeviceError);
  expect((refusal as DeviceError).message).toContain(reason);
});

test('a probe that is aborted has no result', async () => {
  await fake.behave({});
  const reason = new Error('Stopped');
  const context = { tools, maxRates: DEFAULT_MAX_RATES, jobsDir: join(directory, 'jobs') };
  const probing = probeDevice(
    { hardware: 'vaapi', device: FAKE_DEVICE },
    { ...context, signal: AbortSignal.abort(reason) },
  );
  await expect(probing).rejects.toBe(reason);
});

const encoders = await runProgram('ffmpeg', ['-hide_banner', '-encoders']);
for (const hardware of HARDWARE) {
  const { program = '' } = encoderOfCodec('h264').hardware[hardware] ?? {};
  const isKnown = encoders.stdout.includes(` ${program} `);
  const { describe } = requires(program, isKnown ? null : 'This ffmpeg does not have it');
  describe(`the encoder ${program} of the real ffmpeg`, () => {
    test('has each option of ours', async () => {
      const { stdout } = await runProgram('ffmpeg', ['-hide_banner', '-h', `encoder=${program}`]);
      const encoder = encoderOfCodec('h264').hardware[hardware];
      const used = [
        ...(encoder?.options({
          width: 1280,
          height: 720,
          framesPerSecond: 25,
          maxRate: 2_000_000,
          bufferSize: 4_000_000,
          preset: 'veryfast',
          isSmall: false,
        }) ?? []),
        ...(encoder?.variants.flatMap((variant) => variant.options) ?? []),
      ];
      const own = used.filter(([name]) => !GENERIC_OPTIONS.includes(name));
      expect(own.length).toBeGreaterThan(2);
      for (const [name, value] of own) {
        const [, listed = ''] = new RegExp(`^  ${name} +(<.*(?:\n     .*)*)`, 'm').exec(stdout) ?? [];
        expect(`${name}: ${listed}`).toMatch(/<(int|boolean|flags|float)>/);
        if (!/^\d+$/.test(value)) expect(listed).toMatch(new RegExp(`^ +${value} `, 'm'));
      }
    });

    // NVENC looks for a device by itself.
    if (hardware === 'nvenc') return;
    test('is refused with the reason if the device has no driver', async () => {
      const ours = process.env.PATH;
      process.env.PATH = ours?.split(delimiter).slice(1).join(delimiter);
      const real = await prepareTools();
      process.env.PATH = ours;
      await expect(probe(hardware, real)).rejects.toThrow(
        /finds no VA driver for it.*Device creation failed/,
      );
    });
  });
}
