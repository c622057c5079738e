/** Code points of the colours of copied video, by ffmpeg's names: primaries, transfer functions and matrices (ITU-T H.273). */
export const SDR_CODE_POINTS: Readonly<Record<string, number>> = {
  bt709: 1,
  bt470m: 4,
  bt470bg: 5,
  smpte170m: 6,
  'iec61966-2-1': 13,
};
