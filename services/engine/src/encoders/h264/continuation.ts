import type { PlainEncoder } from '../encoder.ts';
import { freeSetId } from './avc-configuration.ts';
import { declaredBy, declareIn } from './declared-codec.ts';
import { SEQUENCE_PARAMETER_SET } from './nal-unit-types.ts';

/** Names of x264 by `profile_idc` (ISO/IEC 14496-10 annex A). Streams with another one are not copied. */
const PROFILES: Readonly<Record<number, string>> = { 66: 'baseline', 77: 'main', 100: 'high' };

const START_CODE = Buffer.from([0, 0, 1]);

/**
 * Encodes in the profile of the copy, without B-frames: the constraint that a stream has none may be part of its codec string. All frames are
 * then decoded in the order in which they are shown, earlier by the delay of the copy.
 */
export const continuationOf: PlainEncoder['continuation'] = (
  codecs,
  delaySeconds,
  { timescale, configuration },
) => {
  const profile = PROFILES[declaredBy(codecs)[0] ?? 0];
  if (profile === undefined) throw new Error(`Not the codec of a copy: ${codecs}`);
  return [
    ['-profile', profile],
    // Some presets use nothing of the high profile, and x264 would then declare a lower one, with fewer fields.
    ...(profile === 'high' ? [['-8x8dct', '1'] as const] : []),
    // In place of the options of small renditions, which have B-frames.
    ['-x264-params', `bframes=0:ref=1:sps-id=${configuration === null ? 0 : freeSetId(configuration)}`],
    // The filter gets timestamps in the time base of the muxer or of the encoder, by the version of ffmpeg. So both are the same.
    ['-enc_time_base', `1:${timescale}`],
    ['-fps_mode', 'passthrough'],
    ['-bsf', `setts=dts=PTS-${Math.round(delaySeconds * timescale)}`],
  ];
};

/** See PlainEncoder. */
export const declare: PlainEncoder['declare'] = (beginning, codecs) => {
  for (let at = beginning.indexOf(START_CODE); at !== -1; at = beginning.indexOf(START_CODE, at + 3)) {
    const type = (beginning[at + 3] ?? 0) & 0x1f;
    if (type === SEQUENCE_PARAMETER_SET) declareIn(beginning.subarray(at + 3), codecs);
  }
};
