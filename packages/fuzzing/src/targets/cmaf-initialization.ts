import { AAC } from '@framelane/engine/encoders/aac/aac';
import { AV1 } from '@framelane/engine/encoders/av1/av1';
import { H264 } from '@framelane/engine/encoders/h264/h264';
import { HEVC } from '@framelane/engine/encoders/hevc/hevc';
import { box, fullBox } from '@framelane/engine/packagers/cmaf/boxes';
import { readInitialization } from '@framelane/engine/packagers/cmaf/initialization';
import { BOXES, MEDIA_HEADER, MOVIE_HEADER, TRACK_HEADER } from '../mp4-words.ts';
import { expectSame, expectThat, refusedPlainly } from '../promises.ts';
import type { Target } from '../target.ts';

const SAMPLE_ENTRY = box(
  'avc1',
  Buffer.alloc(78),
  box('avcC', Buffer.of(1, 0x64, 0, 0x1f, 0xff, 0xe1, 0, 4, 0x67, 0x64, 0, 0x1f, 1, 0, 2, 0x68, 0xee)),
);
const SECTION = Buffer.concat([
  box('ftyp'),
  box(
    'moov',
    MOVIE_HEADER,
    box(
      'trak',
      TRACK_HEADER,
      box(
        'mdia',
        MEDIA_HEADER,
        box('hdlr', Buffer.concat([Buffer.alloc(8), Buffer.from('vide'), Buffer.alloc(13)])),
        box('minf', box('stbl', box('stsd', Buffer.of(0, 0, 0, 0, 0, 0, 0, 1), SAMPLE_ENTRY))),
      ),
    ),
    box('mvex', fullBox('trex', 0, [1, 1, 0, 0, 0])),
  ),
]);

/** An initialization section as the sandboxed ffmpeg writes it, or whoever has taken it over. */
export const target: Target = {
  maxBytes: 1500,
  steps: { fixed: 10_000, perByte: 60 },
  dictionary: BOXES,
  seeds: [SECTION],
  run: (input) => {
    for (const { reader } of [H264, HEVC, AV1, AAC]) {
      const { sample } = reader;
      const section = refusedPlainly(() => readInitialization(input, sample.configurationBox));
      if (section === undefined) continue;
      expectThat(section.bytes.length <= input.length, 'a section only becomes shorter');
      expectSame(
        readInitialization(section.bytes, sample.configurationBox).bytes,
        section.bytes,
        'a section is normalized once',
      );
      const codecs = refusedPlainly(() => sample.codecString(section.configuration, section.colour));
      // It is written into playlists.
      expectThat(
        codecs === undefined || /^[\w.-]+$/.test(codecs),
        `a codec string is a word, not ${JSON.stringify(codecs)}`,
      );
      refusedPlainly(() => sample.isConfigured(section.configuration, section.configuration)(input));
      refusedPlainly(() => sample.isDecodable(input));
      refusedPlainly(() => sample.completed?.(section.configuration, input));
    }
  },
};
