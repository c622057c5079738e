import { AAC } from '@framelane/engine/encoders/aac/aac';
import { AV1 } from '@framelane/engine/encoders/av1/av1';
import { H264 } from '@framelane/engine/encoders/h264/h264';
import { HEVC } from '@framelane/engine/encoders/hevc/hevc';
import { expectThat, refusedPlainly } from '../promises.ts';
import type { Target } from '../target.ts';

const hex = (text: string) => Buffer.from(text, 'hex');
const AVC = hex('0164001fffe1000467 64001f01000268ee'.replaceAll(' ', ''));
const ESDS = hex('00000000031900010004114015000000000000000000000005021190060102');
const SAMPLE = hex('000000026588');

/**
 * What configures a decoder (the content of `avcC`, `hvcC`, `av1C` or `esds`), also as the sample that it decodes. Within the boxes of a section, hardly
 * any change would leave their sizes right.
 */
export const target: Target = {
  maxBytes: 600,
  steps: { fixed: 5_000, perByte: 60 },
  dictionary: [
    AVC,
    ESDS,
    SAMPLE,
    hex('6764001f'),
    hex('68ee'),
    hex('40010c01ffff'),
    hex('4201'),
    hex('0a0b00000024cfff'),
    hex('12000a0b'),
    hex('3200'),
    hex('81050c00'),
    hex('01022000000090000000000078f000fcfdf8f800000f03'),
  ],
  seeds: [
    AVC,
    ESDS,
    SAMPLE,
    hex('81050c000a0b00000024cf7f0dbfff30080a'),
    hex('0102200000009000000000005df000fcfdf8f800000f03200001000340010c'),
  ],
  run: (input) => {
    for (const { reader } of [H264, HEVC, AV1, AAC]) {
      const { codecString, isDecodable, isConfigured, completed } = reader.sample;
      const codecs = refusedPlainly(() => codecString(input));
      // It is written into playlists.
      expectThat(
        codecs === undefined || /^[\w.-]+$/.test(codecs),
        `a codec string is a word, not ${JSON.stringify(codecs)}`,
      );
      refusedPlainly(() => isDecodable(input));
      refusedPlainly(() => isConfigured(input, input)(input));
      refusedPlainly(() => completed?.(input, input));
    }
  },
};
