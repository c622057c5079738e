/** An encoder of ffmpeg alone, without the engine. */
export type Reference = {
  name: string;
  /** Constant rate factors that span the qualities of the engine, best first. */
  factors: readonly number[];
  /** Options for one thread, and closed groups of pictures with the same number of frames. */
  options: (factor: number, groupFrames: number) => string[];
};

/** The encoders to compare with, by codec. x264 has the preset of the engine, the others those with about the same speed. */
export const REFERENCES: Readonly<Record<string, (preset: string) => Reference>> = {
  h264: (preset) => ({
    name: `x264 ${preset}`,
    factors: [19, 23, 27, 31],
    options: (factor, groupFrames) => [
      ...['-c:v', 'libx264', '-preset', preset, '-crf', String(factor), '-threads', '1'],
      ...['-g', String(groupFrames), '-sc_threshold', '0', '-flags', '+cgop'],
    ],
  }),
  hevc: () => ({
    name: 'x265 superfast',
    factors: [20, 24, 28, 32],
    options: (factor, groupFrames) => [
      ...['-c:v', 'libx265', '-preset', 'superfast', '-crf', String(factor), '-g', String(groupFrames)],
      ...['-x265-params', 'log-level=error:pools=none:frame-threads=1:open-gop=0:scenecut=0'],
    ],
  }),
  av1: () => ({
    name: 'SVT-AV1 12',
    factors: [24, 34, 44, 54],
    options: (factor, groupFrames) => [
      ...['-c:v', 'libsvtav1', '-preset', '12', '-crf', String(factor), '-g', String(groupFrames)],
      ...['-svtav1-params', 'lp=1:scd=0'],
    ],
  }),
};
