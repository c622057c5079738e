import type { StreamOption, VideoDemands, VideoEncoder } from '../encoder.ts';
import { configuredCodec, isConfigured, withHeaderOf } from './configuration.ts';
import { isKeyFrame } from './obus.ts';

/** SVT-AV1's presets by those of the engine: they take about the same part of the time of all encoders. */
const PRESETS: Readonly<Record<string, number>> = {
  ultrafast: 12,
  superfast: 12,
  veryfast: 10,
  faster: 9,
  fast: 8,
  medium: 7,
  slow: 6,
  slower: 5,
  veryslow: 4,
};

/** At the engine's usual preset, as good as H.264 of the engine. ADR 85 has the figures. */
const CONSTANT_RATE_FACTOR = '41';

/**
 * SVT-AV1 forces key frames only with the first two. Only one thread repeats its output under a maximum rate. By default, it may exceed that rate by half,
 * and noise then overflows the buffer of the decoder; with a tenth, it does not.
 */
const SVT_OPTIONS = 'enable-force-key-frames=1:scd=0:lp=1:mbr-overshoot-pct=10';

/** AV1 by SVT-AV1. */
export const AV1: VideoEncoder = {
  program: 'libsvtav1',
  decoder: 'libdav1d',
  options,
  hardware: {},
  rateFactor: 0.7,
  smallest: { width: 64, height: 64 },
  reader: {
    sample: {
      isAudio: false,
      configurationBox: 'av1C',
      codecString: configuredCodec,
      isDecodable: isKeyFrame,
      completed: withHeaderOf,
      isConfigured,
    },
    elementary: null,
  },
};

function options({ preset }: VideoDemands): StreamOption[] {
  return [
    ['-preset', String(PRESETS[preset])],
    ['-crf', CONSTANT_RATE_FACTOR],
    ['-svtav1-params', SVT_OPTIONS],
  ];
}
