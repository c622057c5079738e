import { CaptionsError } from '@framelane/captions/captions';
import { readChapters } from '@framelane/captions/read-chapters';
import { CAPTIONS } from '../captions-promises.ts';
import { expectThat, refusedWith } from '../promises.ts';
import type { Target } from '../target.ts';

export const target: Target = {
  ...CAPTIONS,
  seeds: ['WEBVTT\n\n00:01.000 --> 00:02.000\nA\n\n00:02.000 --> 00:03.000\n<b>B</b> &lt;\n'],
  run: (input) => {
    const limit = { chapters: 5, titleLength: 20 };
    const chapters = refusedWith([CaptionsError], () => readChapters(input, 3, limit)) ?? [];
    expectThat(chapters.length <= limit.chapters, 'no more chapters than allowed');
    for (const [at, { start, title }] of chapters.entries()) {
      expectThat(
        start > (chapters[at - 1]?.start ?? -1) && start < 3000,
        'chapters begin one after the other, in the video',
      );
      expectThat([...title].length <= limit.titleLength, 'no longer titles than allowed');
      expectThat(
        !/[\n\r\p{Bidi_Control}]/u.test(title),
        'a title is one line without bidirectional formatting',
      );
    }
  },
};
