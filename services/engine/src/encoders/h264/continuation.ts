import { CLOCK_HZ } from '@framelane/contracts/manifest';
import type { VideoEncoder } from '../encoder.ts';
import { SEQUENCE_PARAMETER_SET } from './nal-unit-types.ts';

/** Names of x264 by `profile_idc` (ISO/IEC 14496-10 annex A). Streams with another one are not copied. */
const PROFILES: Readonly<Record<number, string>> = { 66: 'baseline', 77: 'main', 100: 'high' };

/** From this profile on, a sequence parameter set has more fields (ISO/IEC 14496-10 §7.3.2.1.1). */
const HIGH = 100;

const START_CODE = Buffer.from([0, 0, 1]);

/**
 * Encodes in the profile of the copy, without B-frames: the constraint that a stream has none may be part of its codec string. All frames are
 * then decoded in the order in which they are shown, earlier by the delay of the copy.
 */
export const continuationOf: VideoEncoder['continuation'] = (codecs, delaySeconds) => {
  const declared = Buffer.from(codecs.replace('avc1.', ''), 'hex');
  const profile = PROFILES[declared[0] ?? 0];
  if (profile === undefined || declared.length !== 3) throw new Error(`Not the codec of a copy: ${codecs}`);
  return {
    options: [
      ['-profile', profile],
      // Some presets use nothing of the high profile, and x264 would then declare a lower one, with fewer fields.
      ...(profile === 'high' ? [['-8x8dct', '1'] as const] : []),
      ['-bf', '0'],
      ['-refs', '1'],
      // The filter gets timestamps in the time base of the muxer or of the encoder, by the version of ffmpeg. So both are the same.
      ['-enc_time_base', `1:${CLOCK_HZ}`],
      ['-fps_mode', 'passthrough'],
      ['-bsf', `setts=dts=PTS-${Math.round(delaySeconds * CLOCK_HZ)}`],
    ],
    declare: (beginning) => {
      for (let at = beginning.indexOf(START_CODE); at !== -1; at = beginning.indexOf(START_CODE, at + 3)) {
        const type = (beginning[at + 3] ?? 0) & 0x1f;
        // The three bytes after the header are the profile, the constraints and the level.
        if (type !== SEQUENCE_PARAMETER_SET) continue;
        if ((beginning[at + 4] ?? 0) >= HIGH !== (declared[0] ?? 0) >= HIGH)
          throw new Error(`The encoder has not used the profile of ${codecs}`);
        declared.copy(beginning, at + 4);
      }
    },
  };
};
