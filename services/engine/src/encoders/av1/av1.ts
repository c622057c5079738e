import type { Colour } from '@framelane/contracts/transcode-plan';
import type { VideoTrack } from '../../source/media-source.ts';
import { SDR_CODE_POINTS } from '../code-points.ts';
import type { StreamOption, VideoDemands, VideoEncoder } from '../encoder.ts';
import { configuredCodec, isConfigured, withHeaderOf } from './configuration.ts';
import { isKeyFrame, SEQUENCE_HEADER, UNNEEDED } from './obus.ts';

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

/** Level 4.1, as ffprobe writes it (AV1 annex A.3): 1080p at 60 frames a second. */
const MAX_LEVEL = 9;

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
  copyObstacle,
  copyFilters,
  configurationFilters: `filter_units=pass_types=${SEQUENCE_HEADER}`,
  framesMayConfigure: true,
};

function options({ preset }: VideoDemands): StreamOption[] {
  return [
    ['-preset', String(PRESETS[preset])],
    ['-crf', CONSTANT_RATE_FACTOR],
    ['-svtav1-params', SVT_OPTIONS],
  ];
}

function copyObstacle({ codec, profile, level }: VideoTrack): 'codec' | 'profile' | 'level' | null {
  if (codec !== 'av1') return 'codec';
  if (profile !== 'Main') return 'profile';
  return level >= 0 && level <= MAX_LEVEL ? null : 'level';
}

/** As for H.264: without metadata, and with the tags of the encoded renditions. */
function copyFilters({ primaries, transfer, matrix }: Colour): string {
  const tags = [
    `color_primaries=${SDR_CODE_POINTS[primaries]}`,
    `transfer_characteristics=${SDR_CODE_POINTS[transfer]}`,
    `matrix_coefficients=${SDR_CODE_POINTS[matrix]}`,
    'color_range=tv',
  ];
  return [`filter_units=remove_types=${UNNEEDED}`, `av1_metadata=${tags.join(':')}`].join(',');
}
