import type { StreamOption, VideoDemands, VideoEncoder } from '../encoder.ts';
import { configuredCodec, isConfigured } from './configuration.ts';
import { isIdrSample } from './nal-units.ts';

/** x265's presets by those of the engine, if they differ: faster than the engine's usual one, x265 needs no more bits. */
const PRESETS: Readonly<Record<string, string>> = { veryfast: 'superfast' };

/** At the engine's usual preset, as good as H.264 of the engine. ADR 85 has the figures. */
const CONSTANT_RATE_FACTOR = '26';

/**
 * Closed groups of pictures that begin only where a key frame is forced, and frames in one thread, so that each run has the same output. The last two
 * leave out a message with the settings of the encoder, and statistics that would follow the errors of ffmpeg.
 */
const X265_OPTIONS = 'open-gop=0:scenecut=0:min-keyint=1:pools=none:frame-threads=1:info=0:log-level=error';

/** HEVC by x265. */
export const HEVC: VideoEncoder = {
  program: 'libx265',
  decoder: 'hevc',
  options,
  hardware: {},
  rateFactor: 0.7,
  reader: {
    sample: {
      isAudio: false,
      configurationBox: 'hvcC',
      codecString: configuredCodec,
      isDecodable: isIdrSample,
      isConfigured,
    },
    elementary: null,
  },
};

function options({ preset }: VideoDemands): StreamOption[] {
  return [
    ['-preset', PRESETS[preset] ?? preset],
    ['-crf', CONSTANT_RATE_FACTOR],
    ['-x265-params', X265_OPTIONS],
    ['-forced-idr', '1'],
    // Apple's players want parameter sets outside of the frames (HLS authoring specification 1.10).
    ['-tag', 'hvc1'],
  ];
}
