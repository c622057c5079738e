import { requireLinearTime } from '@framelane/test-kit/growth';
import { test } from '@jest/globals';
import { AAC } from '../../encoders/aac/aac.ts';
import { H264 } from '../../encoders/h264/h264.ts';
import { completeCounters } from './continuity.ts';
import { KeyFrames, PACKET_BYTES, StreamEnd } from './transport-stream.ts';

/** A second of a stream copy. */
const SEGMENT_BYTES = 2 ** 20;

/** Each fills the payloads: start codes, parameter sets, headers of the shortest ADTS frames. */
const PAYLOADS = ['\0\0\x01', '\0\0\x01\x67a\0', '\xff\xf1\x50\x80\0\xff\xfc'];

/** The header of a packet of the stream: one that continues a PES packet, and one that begins it and has a timestamp. */
const CONTINUES = [0x47, 0x01, 0x00, 0x10];
const BEGINS = [0x47, 0x41, 0x00, 0x30, 1, 0x40, 0, 0, 1, 0xe0, 0, 0, 0x80, 0x80, 5, 0x21, 0, 1, 0, 1];

/** A segment whose packets have these headers in turn. */
function segmentOf(size: number, payload: string, headers: readonly number[][]): Buffer {
  const segment = Buffer.alloc(Math.floor(size / PACKET_BYTES) * PACKET_BYTES, payload, 'latin1');
  for (let at = 0; at < segment.length; at += PACKET_BYTES) {
    segment.set(headers[(at / PACKET_BYTES) % headers.length] ?? [], at);
  }
  return segment;
}

const orError = (read: () => unknown) => {
  try {
    read();
  } catch {
    // A segment may be refused.
  }
};

/** Reads a segment as the engine does, in chunks of a file. */
function readSegment(segment: Buffer): void {
  const readers = [
    ...[H264.reader.elementary, AAC.reader.elementary].map(
      (reader) => new StreamEnd(reader, reader.configuration()),
    ),
    new KeyFrames(0),
  ];
  for (const reader of readers) {
    orError(() => {
      for (let at = 0; at < segment.length; at += 65_536) reader.push(segment.subarray(at, at + 65_536));
      if ('seconds' in reader) reader.seconds();
      else reader.end();
    });
  }
  orError(() => completeCounters(segment));
}

test.each([
  ['many frames', [BEGINS]],
  ['no frame', [CONTINUES]],
])('segments of %s are read in linear time', async (_, headers) => {
  for (const payload of PAYLOADS) {
    await requireLinearTime(SEGMENT_BYTES, (size) => segmentOf(size, payload, headers), readSegment);
  }
});
