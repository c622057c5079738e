import { expect, test } from '@jest/globals';
import { FragmentReader } from './fragment-reader.ts';

function box(type: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const header = Buffer.alloc(8);
  header.writeUInt32BE(8 + body.length);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, body]);
}

const numbers = (...values: number[]) => {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [at, value] of values.entries()) bytes.writeInt32BE(value, 4 * at);
  return bytes;
};

/** A run of one sample with an offset and a size (flags 0x201). */
const run = (offset: number, size: number) => box('trun', numbers(0x201, 1, offset, size));

const TRACK = {
  id: 1,
  timescale: 1000,
  firstTime: 0,
  entry: { kind: 'aac', config: { objectType: 2, sampleRate: 48_000, channels: 2 } },
  defaults: { duration: 20, size: 0 },
} as const;

/** Two samples of 100 and 10 bytes with this many bytes before, between and after them. */
function segmentWithGaps(gap: number): Buffer {
  const movie = (begin: number) =>
    box(
      'moof',
      box(
        'traf',
        box('tfhd', numbers(0x2_0000, 1)),
        box('tfdt', numbers(0, 500)),
        run(begin, 100),
        run(begin + 100 + gap, 10),
      ),
    );
  const begin = movie(0).length + 8 + gap;
  return Buffer.concat([movie(begin), box('mdat', Buffer.alloc(110 + 3 * gap))]);
}

test.each([0, 7, 50, 300])('%d bytes beside the samples are skipped, in chunks of any size', (gap) => {
  const segment = segmentWithGaps(gap);
  for (let chunk = 1; chunk <= segment.length; chunk += 1) {
    const reader = new FragmentReader({ tracks: [TRACK] });
    for (let at = 0; at < segment.length; at += chunk) reader.push(segment.subarray(at, at + chunk));
    expect(reader.end()).toMatchObject({ damage: null, audio: { frames: 2, start: 45_000, end: 48_600 } });
  }
});
