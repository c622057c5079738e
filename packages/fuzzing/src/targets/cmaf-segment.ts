import { isSegment, samplesOf, segmentOf } from '@framelane/engine/packagers/cmaf/fragments';
import { BOXES } from '../mp4-words.ts';
import { expectSame, expectThat, refusedPlainly } from '../promises.ts';
import type { Target } from '../target.ts';

const TRACK = {
  timescale: 90_000,
  trackId: 1,
  defaults: { duration: 3000, size: 4, flags: 0 },
  configuration: Buffer.alloc(0),
  bytes: Buffer.alloc(0),
};
const SAMPLE = {
  duration: 3000,
  flags: 0,
  decodingTime: 90_000,
  presentationTime: 93_000,
  bytes: Buffer.of(0, 0, 0, 1, 0x65),
};

/** A segment of fragmented MP4 as the sandboxed ffmpeg writes it, or whoever has taken it over. */
export const target: Target = {
  maxBytes: 3000,
  steps: { fixed: 3_000, perByte: 100 },
  dictionary: BOXES,
  seeds: [
    segmentOf([SAMPLE], TRACK),
    segmentOf(
      [SAMPLE, { ...SAMPLE, decodingTime: 93_000, presentationTime: 92_000, bytes: Buffer.alloc(5) }],
      TRACK,
    ),
  ],
  run: (input) => {
    isSegment(input);
    const samples = refusedPlainly(() => samplesOf(input, TRACK));
    if (samples === undefined) return;
    const bytes = samples.reduce((sum, sample) => sum + sample.bytes.length, 0);
    expectThat(bytes <= input.length, 'the samples of a segment are in it');
    for (const sample of samples)
      expectThat(
        [sample.decodingTime, sample.presentationTime].every(Number.isSafeInteger),
        'times are exact',
      );
    const times = (list: typeof samples) => list.map((sample) => sample.presentationTime);
    const written = refusedPlainly(() => segmentOf(samples, TRACK));
    // Fragments with gaps between them become one fragment without gaps.
    const hasGaps = samples.some(
      (sample, at) =>
        at > 0 &&
        sample.decodingTime !== (samples[at - 1]?.decodingTime ?? 0) + (samples[at - 1]?.duration ?? 0),
    );
    if (written !== undefined && !hasGaps)
      expectSame(
        times(samplesOf(written, TRACK)),
        times(samples),
        'samples that are written and read again keep their times',
      );
  },
};
