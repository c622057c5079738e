import type { HardwareEncoder } from '../encoder.ts';
import { averageRate } from './hardware-rate.ts';
import { h264Level } from './level.ts';
import { playbackObstacle } from './playable.ts';

/**
 * H.264 by VAAPI. ffmpeg makes each forced key frame an IDR picture, and so each regular one with `-idr_interval 0`. Without B-frames in the
 * driver, it leaves out `-bf`. The sizes are those of the devices that take the fewest: AMD's.
 */
export const VAAPI: HardwareEncoder = {
  program: 'h264_vaapi',
  smallest: { width: 256, height: 128 },
  largest: { width: 4096, height: 2304 },
  options: (demands) => [
    ['-profile', 'high'],
    ['-level', String(h264Level(demands).level)],
    ['-rc_mode', 'VBR'],
    averageRate(demands),
    ['-bf', '2'],
    ['-idr_interval', '0'],
    // From version 6 on, captions are part of the default.
    ['-sei', 'timing'],
    ['-flags', '+cgop'],
  ],
  variants: [
    { name: 'standard', options: [] },
    // The only one of newer devices of Intel.
    { name: 'low power', options: [['-low_power', '1']] },
  ],
  obstacle: playbackObstacle,
};
