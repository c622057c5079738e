/** The interfaces through which ffmpeg encodes on a device, instead of on the processor. */
export const HARDWARE = ['vaapi', 'qsv', 'nvenc'] as const;
export type Hardware = (typeof HARDWARE)[number];
