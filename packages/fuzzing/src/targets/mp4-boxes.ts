import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { box, fullBox } from '@framelane/engine/packagers/cmaf/boxes';
import { editFlaw, readEditLists, shownParts, shownUntil } from '@framelane/engine/source/edit-lists';
import { TranscodeFailure } from '@framelane/engine/transcode-failure';
import { BOXES, MEDIA_HEADER, MOVIE_HEADER, TRACK_HEADER } from '../mp4-words.ts';
import { expectThat, refusedLaterWith } from '../promises.ts';
import type { Target } from '../target.ts';

const EDITS = box('edts', fullBox('elst', 0, [2, 1000, 0xffff_ffff, 0x1_0000, 4000, 0, 0x1_0000]));

const PATH = join(tmpdir(), `fuzzed-${process.pid}-${threadId}.mp4`);

/** An uploaded file. */
export const target: Target = {
  maxBytes: 1500,
  steps: { fixed: 3_000, perByte: 40 },
  dictionary: BOXES,
  seeds: [
    Buffer.concat([
      box('ftyp'),
      box(
        'moov',
        MOVIE_HEADER,
        box('trak', TRACK_HEADER, EDITS, box('mdia', MEDIA_HEADER)),
        box('mvex', fullBox('trex', 0, [1, 1, 0, 0, 0])),
      ),
    ]),
  ],
  run: async (input) => {
    writeFileSync(PATH, input);
    const lists = await refusedLaterWith([TranscodeFailure], () => readEditLists(PATH)).finally(() =>
      rmSync(PATH),
    );
    for (const edits of lists?.tracks.values() ?? []) {
      for (const { from, lasts, rate } of edits) {
        expectThat(from === null || (Number.isFinite(from) && from >= 0), 'an edit begins at a time');
        expectThat(lasts >= 0 && Number.isFinite(rate), 'an edit has a duration and a speed');
      }
      for (const isFragmented of [true, false]) {
        editFlaw(edits, isFragmented);
        expectThat(shownUntil(edits, isFragmented) >= 0, 'a track ends at a time');
      }
      expectThat(shownParts(edits, 0).length <= edits.length, 'an edit shows one part');
    }
  },
};
