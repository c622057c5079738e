import { box, fullBox } from '@framelane/engine/packagers/cmaf/boxes';
import { FragmentReader } from '../../../hls-conformance/src/media/mp4/fragment-reader.ts';
import { readInitialization } from '../../../hls-conformance/src/media/mp4/initialization.ts';
import { BOXES } from '../mp4-words.ts';
import { expectSame, refusedPlainly } from '../promises.ts';
import type { Target } from '../target.ts';
import { target as initializations } from './cmaf-initialization.ts';
import { target as segments } from './cmaf-segment.ts';

/** Between the initialization section and the segment. */
const SEPARATOR = Buffer.from('----');
const [SECTION = Buffer.alloc(0)] = initializations.seeds as Buffer[];
const EDIT = box('edts', fullBox('elst', 0, [1, 0, 3000, 0x1_0000]));

/** An initialization section and a segment of fragmented MP4 of any server. The checker reports what is wrong with a segment. */
export const target: Target = {
  maxBytes: 3000,
  steps: { fixed: 3_000, perByte: 100 },
  dictionary: [...BOXES, SEPARATOR, EDIT],
  seeds: (segments.seeds as Buffer[]).map((segment) => Buffer.concat([SECTION, SEPARATOR, segment])),
  run: (input) => {
    const at = input.indexOf(SEPARATOR);
    if (at === -1) return;
    const section = refusedPlainly(() => readInitialization(input.subarray(0, at)));
    if (section === undefined) return;
    const segment = input.subarray(at + SEPARATOR.length);
    const contentOf = (chunkBytes: number) => {
      const reader = new FragmentReader(section);
      for (let from = 0; from < segment.length; from += chunkBytes)
        reader.push(segment.subarray(from, from + chunkBytes));
      return reader.end();
    };
    expectSame(contentOf(7), contentOf(segment.length + 1), 'the chunks of a segment do not matter');
  },
};
