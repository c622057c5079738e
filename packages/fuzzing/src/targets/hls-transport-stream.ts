import { SegmentReader } from '../../../hls-conformance/src/media/segment-reader.ts';
import { expectSame } from '../promises.ts';
import type { Target } from '../target.ts';
import { target as engineTarget } from './transport-stream.ts';

/** A segment of any server. The checker reports what is wrong, and never refuses one. */
export const target: Target = {
  ...engineTarget,
  steps: { fixed: 3_000, perByte: 60 },
  run: (input) => {
    expectSame(
      contentOf(input, 7),
      contentOf(input, input.length + 1),
      'the chunks of a segment do not matter',
    );
  },
};

function contentOf(segment: Buffer, chunkBytes: number) {
  const reader = new SegmentReader();
  for (let at = 0; at < segment.length; at += chunkBytes) reader.push(segment.subarray(at, at + chunkBytes));
  return reader.end();
}
