import type { HardwareEncoder } from '../encoder.ts';
import { WITH_AND_WITHOUT_B_FRAMES } from './b-frames.ts';
import { averageRate } from './hardware-rate.ts';
import { playbackObstacle } from './playable.ts';

/**
 * H.264 by NVIDIA's NVENC. It chooses the level itself: it refuses one that is too low for the frames that it wants to store. Its option has a hyphen
 * where that of Quick Sync Video has an underscore.
 */
export const NVENC: HardwareEncoder = {
  program: 'h264_nvenc',
  smallest: { width: 146, height: 146 },
  largest: { width: 4096, height: 4096 },
  options: (demands) => [
    ['-preset', 'p4'],
    ['-tune', 'hq'],
    ['-profile', 'high'],
    ['-rc', 'vbr'],
    averageRate(demands),
    ['-forced-idr', '1'],
    ['-b_ref_mode', 'disabled'],
    ['-a53cc', '0'],
    ['-flags', '+cgop'],
  ],
  variants: WITH_AND_WITHOUT_B_FRAMES,
  obstacle: playbackObstacle,
};
