import type { Colour } from '@framelane/contracts/transcode-plan';
import type { VideoTrack } from '../../source/media-source.ts';
import { SDR_CODE_POINTS } from '../code-points.ts';
import type { PlainEncoder, StreamOption, VideoDemands } from '../encoder.ts';
import { configuredCodec, extended, isConfigured, isIdrSample } from './avc-configuration.ts';
import { codecString, startsWithIdr } from './byte-stream.ts';
import { continuationOf, declare } from './continuation.ts';
import { h264Level } from './level.ts';
import { SEQUENCE_PARAMETER_SET } from './nal-unit-types.ts';
import { NVENC } from './nvenc.ts';
import { ParameterSets } from './parameter-sets.ts';
import { MAX_LEVEL } from './playable.ts';
import { QSV } from './qsv.ts';
import { VAAPI } from './vaapi.ts';

/** Profiles that the decoders of all phones support. The plain Baseline profile has coding tools that they do not support. */
const PROFILES = ['Constrained Baseline', 'Main', 'High'];

const CONSTANT_RATE_FACTOR = '23';
/**
 * The number of reference frames, for the presets whose number may exceed what a level allows, or that have another one than x264's. Not in the
 * options below, which would replace the number that `continuationOf` needs.
 */
const REFERENCES: Readonly<Record<string, number>> = { veryfast: 2, slow: 5, slower: 8, veryslow: 16 };

/**
 * x264 options by preset: of all renditions, and what the small ones have in addition. A search in a diamond instead of a hexagon takes less time.
 * The others save bits, and cost no time or little. ADR 84 and ADR 86 have the figures.
 */
const RENDITION_OPTIONS: Readonly<Record<string, string>> = {
  veryfast: 'me=dia:aq-mode=2:direct=temporal:trellis=1:mixed-refs=1',
};
const SMALL_RENDITION_OPTIONS: Readonly<Record<string, string>> = {
  superfast: 'b-adapt=2:trellis=1',
  faster: 'b-adapt=2:mixed-refs=1',
  fast: 'b-adapt=2',
  medium: 'b-adapt=2',
};

/** H.264 by x264. */
export const H264: PlainEncoder = {
  program: 'libx264',
  decoder: 'h264',
  rateFactor: 1,
  options,
  hardware: { vaapi: VAAPI, qsv: QSV, nvenc: NVENC },
  copyObstacle,
  copyFilters,
  continuation: continuationOf,
  declare,
  extended,
  configurationFilters: `h264_mp4toannexb,filter_units=pass_types=${SEQUENCE_PARAMETER_SET}`,
  framesMayConfigure: true,
  reader: {
    elementary: {
      codecString,
      isDecodable: startsWithIdr,
      configuration: () => new ParameterSets(),
    },
    sample: {
      isAudio: false,
      configurationBox: 'avcC',
      codecString: configuredCodec,
      isDecodable: isIdrSample,
      isConfigured,
    },
  },
};

function options(demands: VideoDemands): StreamOption[] {
  const { preset } = demands;
  const { level, maxFrames } = h264Level(demands);
  const references = REFERENCES[preset];
  const x264Params = x264Options(demands);
  return [
    ['-preset', preset],
    ['-profile', 'high'],
    ['-level', (level / 10).toFixed(1)],
    ...(references === undefined ? [] : ([['-refs', String(Math.min(references, maxFrames))]] as const)),
    ...(x264Params === '' ? [] : ([['-x264-params', x264Params]] as const)),
    ['-crf', CONSTANT_RATE_FACTOR],
    ['-forced-idr', '1'],
    ['-sc_threshold', '0'],
    ['-a53cc', '0'],
    ['-flags', '+cgop'],
  ];
}

/** Empty if the preset alone determines the analysis. */
function x264Options({ preset, isSmall }: VideoDemands): string {
  const options = [RENDITION_OPTIONS[preset], isSmall ? SMALL_RENDITION_OPTIONS[preset] : undefined];
  return options.filter((option) => option !== undefined).join(':');
}

function copyObstacle({ codec, profile, level }: VideoTrack): 'codec' | 'profile' | 'level' | null {
  if (codec !== 'h264') return 'codec';
  if (!PROFILES.includes(profile)) return 'profile';
  return level > 0 && level <= MAX_LEVEL ? null : 'level';
}

/**
 * Removes supplemental enhancement information: it may contain anything, such as captions or the position of a drone, and
 * players do not need it. Writes the tags of the encoded renditions into every sequence parameter set: the source may have them in its
 * container only, have others there, or have none. A transport stream has no other place for them.
 */
function copyFilters(colour: Colour): string {
  const tags = [
    `colour_primaries=${SDR_CODE_POINTS[colour.primaries]}`,
    `transfer_characteristics=${SDR_CODE_POINTS[colour.transfer]}`,
    `matrix_coefficients=${SDR_CODE_POINTS[colour.matrix]}`,
    ...['video_full_range_flag=0', 'sample_aspect_ratio=1/1'],
  ];
  return ['filter_units=remove_types=6', `h264_metadata=${tags.join(':')}`].join(',');
}
