import type { Colour } from '@framelane/contracts/transcode-plan';
import type { VideoTrack } from '../../source/media-source.ts';
import { SDR_CODE_POINTS } from '../code-points.ts';
import type { StreamOption, VideoDemands, VideoEncoder } from '../encoder.ts';
import { configuredCodec, isConfigured, withoutMessages } from './configuration.ts';
import { isIdrSample, SETS_AND_OTHER_STARTS, UNNEEDED } from './nal-units.ts';

/** x265's presets by those of the engine, if they differ: faster than the engine's usual one, x265 needs no more bits. */
const PRESETS: Readonly<Record<string, string>> = { veryfast: 'superfast' };

/** At the engine's usual preset, as good as H.264 of the engine. ADR 85 has the figures. */
const CONSTANT_RATE_FACTOR = '26';

/**
 * Closed groups of pictures that begin only where a key frame is forced, and frames in one thread, so that each run has the same output. The last two
 * leave out a message with the settings of the encoder, and statistics that would follow the errors of ffmpeg.
 */
const X265_OPTIONS = 'open-gop=0:scenecut=0:min-keyint=1:pools=none:frame-threads=1:info=0:log-level=error';

/** Apple's players want parameter sets outside of the frames (HLS authoring specification 1.10). */
const TAG: StreamOption = ['-tag', 'hvc1'];

/** Level 4.1, as ffprobe writes it: 1080p at 60 frames a second. */
const MAX_LEVEL = 123;

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
      completed: withoutMessages,
      isConfigured,
    },
    elementary: null,
  },
  copyObstacle,
  copyFilters,
  copyOptions: [TAG],
  configurationFilters: `filter_units=pass_types=${SETS_AND_OTHER_STARTS}`,
  framesMayConfigure: false,
};

function options({ preset }: VideoDemands): StreamOption[] {
  return [
    ['-preset', PRESETS[preset] ?? preset],
    ['-crf', CONSTANT_RATE_FACTOR],
    ['-x265-params', X265_OPTIONS],
    ['-forced-idr', '1'],
    TAG,
  ];
}

function copyObstacle({ codec, profile, level }: VideoTrack): 'codec' | 'profile' | 'level' | null {
  if (codec !== 'hevc') return 'codec';
  if (profile !== 'Main') return 'profile';
  return level > 0 && level <= MAX_LEVEL ? null : 'level';
}

/** As for H.264: without messages, and with the tags of the encoded renditions. */
function copyFilters({ primaries, transfer, matrix }: Colour): string {
  const tags = [
    `colour_primaries=${SDR_CODE_POINTS[primaries]}`,
    `transfer_characteristics=${SDR_CODE_POINTS[transfer]}`,
    `matrix_coefficients=${SDR_CODE_POINTS[matrix]}`,
    ...['video_full_range_flag=0', 'sample_aspect_ratio=1/1'],
  ];
  return [`filter_units=remove_types=${UNNEEDED}`, `hevc_metadata=${tags.join(':')}`].join(',');
}
