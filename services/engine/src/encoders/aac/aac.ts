import type { AudioPlan } from '@framelane/contracts/transcode-plan';
import type { AudioTrack } from '../../source/media-source.ts';
import type { AudioEncoder } from '../encoder.ts';
import { AdtsHeaders, audioSeconds, codecString, frameSeconds } from './adts.ts';
import { configuredCodec } from './elementary-stream-descriptor.ts';

/** By the number of channels. */
const BIT_RATES: Record<AudioPlan['channels'], string> = { 1: '64k', 2: '128k', 6: '320k' };
const COPIED_SAMPLE_RATES = [44_100, 48_000];

/** AAC-LC by the encoder of ffmpeg. Every frame can be decoded by itself. */
export const AAC: AudioEncoder = {
  program: 'aac',
  decoder: 'aac',
  options: (channels) => [['-b', BIT_RATES[channels]]],
  copyObstacle,
  reader: {
    elementary: {
      codecString,
      isDecodable: () => true,
      configuration: () => new AdtsHeaders(),
      duration: audioSeconds,
      frameSeconds,
    },
    sample: {
      isAudio: true,
      configurationBox: 'esds',
      codecString: configuredCodec,
      isDecodable: () => true,
      // Samples bring no configuration.
      isConfigured: () => () => true,
    },
  },
};

function copyObstacle({ codec, profile, channels, sampleRate }: AudioTrack) {
  if (codec !== 'aac') return 'codec';
  if (profile !== 'LC') return 'profile';
  if (channels !== 2) return 'channels';
  return COPIED_SAMPLE_RATES.includes(sampleRate) ? null : 'sample_rate';
}
