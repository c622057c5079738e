import type { HardwareEncoder } from '../encoder.ts';
import { WITH_AND_WITHOUT_B_FRAMES } from './b-frames.ts';
import { averageRate } from './hardware-rate.ts';
import { h264Level } from './level.ts';
import { playbackObstacle } from './playable.ts';

/** H.264 by Intel's Quick Sync Video. Without `-forced_idr`, a forced key frame is an I-frame that later frames may look behind. */
export const QSV: HardwareEncoder = {
  program: 'h264_qsv',
  smallest: { width: 64, height: 64 },
  largest: { width: 4096, height: 4096 },
  options: (demands) => [
    ['-preset', 'medium'],
    ['-profile', 'high'],
    ['-level', String(h264Level(demands).level)],
    averageRate(demands),
    ['-forced_idr', '1'],
    ['-idr_interval', '0'],
    ['-adaptive_i', '0'],
    ['-a53cc', '0'],
    ['-flags', '+cgop'],
  ],
  variants: WITH_AND_WITHOUT_B_FRAMES,
  obstacle: playbackObstacle,
};
