/**
 * What became of a video on an engine with a device:
 * - `encoded`: by the device,
 * - `failed`: the device failed, and software encodes the video,
 * - software encodes it from the start, because the device is `refused` after a failed probe, is `busy` with others, or does not encode frames of
 *   this size (`unfit`).
 */
export const DEVICE_OUTCOMES = ['encoded', 'failed', 'refused', 'busy', 'unfit'] as const;
export type DeviceOutcome = (typeof DEVICE_OUTCOMES)[number];
