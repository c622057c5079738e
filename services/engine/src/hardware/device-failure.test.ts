import { expect, test } from '@jest/globals';
import { explainDeviceFailure } from './device-failure.ts';

/** Messages as users of ffmpeg have reported them. */
test.each([
  ['[AVHWDeviceContext @ 0x1] No VA display found for device /dev/dri/renderD128.', 'finds no VA driver'],
  [
    '[AVHWDeviceContext @ 0x1] Failed to initialise VAAPI connection: -1 (unknown libva error).',
    'finds no VA driver',
  ],
  ['Device creation failed: -542398533.', 'finds no VA driver'],
  ['[h264_vaapi @ 0x1] No usable encoding profile found.', 'does not encode in this codec'],
  [
    '[h264_vaapi @ 0x1] No usable encoding entrypoint found for profile VAProfileH264High (7).',
    'does not encode in this codec',
  ],
  [
    '[h264_vaapi @ 0x1] Hardware does not support encoding at size 224x160 (constraints: width 256-4096 height 128-2304).',
    'frames of this size',
  ],
  [
    '[h264_vaapi @ 0x1] Failed to end picture encode issue: 24 (internal encoding error).',
    'failed while it encoded',
  ],
  ['[h264_qsv @ 0x1] Error creating a MFX session: -9.', 'media library finds no device'],
  [
    '[h264_qsv @ 0x1] Error initializing an internal MFX session: unsupported (-3)',
    'media library finds no device',
  ],
  ['[h264_qsv @ 0x1] Error during reset: incompatible video parameters (-14)', 'refuses the parameters'],
  ['[h264_nvenc @ 0x1] Cannot load libcuda.so.1', "NVIDIA's driver is not visible"],
  ['[h264_nvenc @ 0x1] Cannot load libnvidia-encode.so.1', "NVIDIA's driver is not visible"],
  [
    '[h264_nvenc @ 0x1] dl_fn->cuda_dl->cuInit(0) failed -> CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected',
    "NVIDIA's driver is not visible",
  ],
  [
    '[h264_nvenc @ 0x1] Driver does not support the required nvenc API version. Required: 12.1 Found: 11.1',
    'driver is too old',
  ],
  ['[h264_nvenc @ 0x1] OpenEncodeSessionEx failed: out of memory (10): (no details)', 'no more renditions'],
  [
    '[h264_nvenc @ 0x1] OpenEncodeSessionEx failed: incompatible client key (21): (no details)',
    'no more renditions',
  ],
  [
    '[h264_nvenc @ 0x1] InitializeEncoder failed: invalid param (8): Frame Dimension less than the minimum supported value.',
    'frames of this size',
  ],
  [
    '[h264_nvenc @ 0x1] InitializeEncoder failed: invalid param (8): Invalid Level.',
    'refuses the parameters',
  ],
  ['[h264_nvenc @ 0x1] Max B-frames 2 exceed 0', 'does not encode B-frames'],
  ['[h264_nvenc @ 0x1] EncodePicture failed!: generic error (20): (no details)', 'failed while it encoded'],
  ["Unknown encoder 'h264_nvenc'", 'lacks the encoder'],
  ["Unrecognized option 'forced_idr:v'.", 'lacks the encoder'],
])('%s means: %s', (line, meaning) => {
  const explained = explainDeviceFailure(`[vist#0:0] something\n${line}\nConversion failed!\n`);
  expect(explained).toContain(meaning);
  expect(explained).toContain(`ffmpeg: ${line.slice(0, 200)}`);
});

test('an unknown message is quoted, to a limit', () => {
  expect(explainDeviceFailure(`first\n${'x'.repeat(1000)}\n`)).toBe(
    `ffmpeg failed on the device. ffmpeg: ${'x'.repeat(200)}`,
  );
  expect(explainDeviceFailure('')).toBe('ffmpeg failed on the device.');
});
