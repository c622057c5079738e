import type { HardwareVariant } from '../encoder.ts';

/** Devices that encode B-frames, and those that cannot. */
export const WITH_AND_WITHOUT_B_FRAMES: readonly HardwareVariant[] = [
  { name: 'B-frames', options: [['-bf', '2']] },
  { name: 'no B-frames', options: [['-bf', '0']] },
];
