import type { Hardware } from '@framelane/contracts/hardware';
import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import { describe, expect, test } from '@jest/globals';
import { encodePlan } from '../../tests/support/tracks.ts';
import { encoderOfCodec } from '../encoders/encoders.ts';
import { wholeArguments } from '../outputs/whole-run.ts';
import { planLadder } from '../plan/ladder.ts';
import { deviceEncoder, deviceOptions, type HardwareRun, uploadOf } from './hardware-run.ts';

const CODEC = 'h264';
const SETTINGS = { preset: 'slow', threads: 2 };

const runOn = (hardware: Hardware, device = '/dev/device'): HardwareRun => {
  const [variant] = encoderOfCodec(CODEC).hardware[hardware]?.variants ?? [];
  if (variant === undefined) throw new Error('There is no variant');
  return { hardware, device, variants: new Map([[CODEC, variant]]) };
};

/** The options of the outputs of a whole video with the renditions 360p and 480p. */
const lineOn = (hardware: Hardware, changes: Partial<EncodePlan> = {}) => {
  const videoRenditions = planLadder({ width: 854, height: 480 }, 25);
  const plan = encodePlan({ videoRenditions, audio: [], ...changes });
  const { inputOptions, outputs } = wholeArguments(plan, { ...SETTINGS, device: runOn(hardware) });
  const [low = [], high = []] = outputs.map(({ options }) => options);
  const graph = low[low.indexOf('-filter_complex') + 1] ?? '';
  const encoder = (options: readonly string[]) =>
    options.slice(options.indexOf('-c:v'), options.indexOf('-map_metadata')).join(' ');
  return { inputOptions, graph: graph.split(';'), low: encoder(low), high: encoder(high) };
};

const FILTERS =
  '-bsf:v filter_units=remove_types=6,h264_metadata=colour_primaries=1:transfer_characteristics=1:matrix_coefficients=1:video_full_range_flag=0:sample_aspect_ratio=1/1';
const COMMON = (rate: number) =>
  `${FILTERS} -maxrate:v ${rate} -bufsize:v ${2 * rate} -force_key_frames:v expr:gte(t,n_forced*2) -g:v 51 -threads:v 2`;

describe('the run of a whole video', () => {
  test('with VAAPI uploads the frames of each rendition', () => {
    const { inputOptions, graph, low, high } = lineOn('vaapi');
    expect(inputOptions.slice(0, 4)).toEqual([
      ...['-init_hw_device', 'vaapi=device:/dev/device', '-filter_hw_device', 'device'],
    ]);
    expect(graph).toContain('[memory-480p]format=nv12,hwupload[480p]');
    expect(graph).toContain('[memory-360p]format=nv12,hwupload[360p]');
    const vaapi = (level: number, average: number) =>
      `-c:v h264_vaapi -profile:v high -level:v ${level} -rc_mode:v VBR -b:v ${average} -bf:v 2 -idr_interval:v 0 -sei:v timing -flags:v +cgop`;
    expect(low).toBe(`${vaapi(30, 560_000)} ${COMMON(800_000)}`);
    expect(high).toBe(`${vaapi(30, 980_000)} ${COMMON(1_400_000)}`);
  });

  test('with Quick Sync Video gives the encoders frames in memory, and IDR pictures for forced key frames', () => {
    const { inputOptions, graph, low } = lineOn('qsv');
    expect(inputOptions.slice(0, 6)).toEqual([
      ...['-init_hw_device', 'vaapi=node:/dev/device', '-init_hw_device', 'qsv=device@node'],
      ...['-filter_hw_device', 'device'],
    ]);
    expect(graph).toContain('[memory-360p]format=nv12[360p]');
    expect(low).toBe(
      `-c:v h264_qsv -preset:v medium -profile:v high -level:v 30 -b:v 560000 -forced_idr:v 1 -idr_interval:v 0 -adaptive_i:v 0 -a53cc:v 0 -flags:v +cgop -bf:v 2 ${COMMON(800_000)}`,
    );
  });

  test('with NVENC has the filters of software, and no level', () => {
    const { inputOptions, graph, low } = lineOn('nvenc');
    expect(inputOptions[0]).toBe('-nostdin');
    expect(graph.join(';')).not.toMatch(/hwupload|nv12|memory/);
    expect(low).toBe(
      `-c:v h264_nvenc -preset:v p4 -tune:v hq -profile:v high -rc:v vbr -b:v 560000 -forced-idr:v 1 -b_ref_mode:v disabled -a53cc:v 0 -flags:v +cgop -bf:v 2 ${COMMON(800_000)}`,
    );
  });

  test('uploads no frames of a copied rendition', () => {
    const { graph } = lineOn('vaapi', { copiesVideo: true });
    expect(graph.filter((chain) => chain.includes('hwupload'))).toEqual([
      '[memory-360p]format=nv12,hwupload[360p]',
    ]);
  });
});

describe('a codec that the device does not encode', () => {
  const run: HardwareRun = { hardware: 'vaapi', device: '/dev/device', variants: new Map() };

  test('is encoded by software, without an upload', () => {
    expect(deviceEncoder('360p', run)).toBeUndefined();
    expect(uploadOf('360p', run)).toBeUndefined();
  });
});

test('without a device, software encodes', () => {
  expect(deviceEncoder('360p', undefined)).toBeUndefined();
  expect(deviceOptions(undefined)).toEqual([]);
  expect(uploadOf('360p', undefined)).toBeUndefined();
});
