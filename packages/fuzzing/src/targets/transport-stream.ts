import { Readable } from 'node:stream';
import { AAC } from '@framelane/engine/encoders/aac/aac';
import { H264 } from '@framelane/engine/encoders/h264/h264';
import { completeCounters, joinCounters } from '@framelane/engine/packagers/mpeg-ts/continuity';
import { MPEG_TS } from '@framelane/engine/packagers/mpeg-ts/mpeg-ts';
import {
  elementaryStream,
  isTransportStream,
  PACKET_BYTES,
} from '@framelane/engine/packagers/mpeg-ts/transport-stream';
import { InvalidSegmentError } from '@framelane/engine/packagers/packager';
import { type OutputFile, ToolOutputError } from '@framelane/engine/sandbox/tool-output';
import { TranscodeFailure } from '@framelane/engine/transcode-failure';
import { expectThat, refusedLaterWith, refusedPlainly } from '../promises.ts';
import type { Target } from '../target.ts';

const packet = (header: readonly number[], payload: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(PACKET_BYTES, 0xff);
  bytes.set([0x47, ...header]);
  bytes.set(payload, 1 + header.length);
  return bytes;
};

/** The beginning of a PES packet with a timestamp. */
const PES = [0, 0, 1, 0xe0, 0, 0, 0x80, 0x80, 5, 0x21, 0, 1, 0, 1];
const SETS = [0, 0, 0, 1, 0x67, 0x64, 0, 0x1f, 0xac, 0, 0, 0, 1, 0x68, 0xee, 0, 0, 0, 1, 0x65, 0x88];
const ADTS = [0xff, 0xf1, 0x50, 0x80, 0x01, 0x1f, 0xfc, 1];
const VIDEO = packet([0x41, 0x00, 0x30, 1, 0x40], [...PES, ...SETS]);
const AUDIO = packet([0x41, 0x00, 0x10], [...PES, ...ADTS]);
const CONTINUED = packet([0x01, 0x00, 0x11], [1, 2, 3]);
/** Tables with their checksums, which no search finds: of a program with H.264 (PID 0x100) and AAC (PID 0x101). */
const PAT = packet([0x40, 0x00, 0x10], [...Buffer.from('0000b00d0001c100000001f0002ab104b2', 'hex')]);
const PMT = packet(
  [0x50, 0x00, 0x10],
  [...Buffer.from('0002b0170001c10000e100f0001be100f0000fe101f0002f44b99b', 'hex')],
);
const SECOND = packet([0x41, 0x01, 0x10], [...PES, ...ADTS]);

/** A segment as the sandboxed ffmpeg writes it, or whoever has taken it over. */
export const target: Target = {
  maxBytes: 16 * PACKET_BYTES,
  steps: { fixed: 10_000, perByte: 60 },
  dictionary: [
    VIDEO,
    AUDIO,
    CONTINUED,
    PAT,
    PMT,
    SECOND,
    Buffer.from(PES),
    Buffer.from(SETS),
    Buffer.from(ADTS),
    Buffer.of(0x47),
    Buffer.of(0, 0, 1),
  ],
  seeds: [Buffer.concat([PAT, PMT, VIDEO, SECOND, CONTINUED]), Buffer.concat([AUDIO, CONTINUED]), VIDEO],
  run: async (input) => {
    for (const encoder of [H264, AAC]) {
      const reader = MPEG_TS.open(encoder.reader, null);
      for (const isCopy of [true, false]) {
        const info = await refusedLaterWith([InvalidSegmentError, ToolOutputError, TranscodeFailure], () =>
          reader.read(fileOf(input), { isCopy }),
        );
        if (info === undefined) continue;
        expectThat([info.start, info.last].every(Number.isFinite), 'the times of a segment are numbers');
        expectThat(info.units * PACKET_BYTES <= input.length, 'a unit has a packet');
      }
      refusedPlainly(() => reader.groups(input));
      refusedPlainly(() => reader.frameSeconds(input));
      refusedPlainly(() => reader.delay(input));
      await reader.iFrames(Readable.from(halves(input)), 0).catch((error: unknown) =>
        refusedPlainly(() => {
          throw error;
        }),
      );
    }
    expectSameStream(input);
  },
};

/** Counters do not change the bytes of the stream. */
function expectSameStream(segment: Buffer): void {
  const stream = refusedPlainly(() => (isTransportStream(segment) ? elementaryStream(segment) : undefined));
  if (stream === undefined) return;
  const completed = refusedPlainly(() => completeCounters(segment));
  if (completed === undefined) return;
  expectThat(completed.length <= 16 * segment.length, 'at most 15 packets are added for each');
  expectThat(
    elementaryStream(completed).equals(stream),
    'completed counters leave the bytes of the stream as they are',
  );
  const joined = joinCounters(segment, { after: completed });
  expectThat(
    elementaryStream(joined).equals(stream),
    'joined counters leave the bytes of the stream as they are',
  );
}

function halves(bytes: Buffer): Buffer[] {
  return [bytes.subarray(0, bytes.length >> 1), bytes.subarray(bytes.length >> 1)];
}

/** A file in memory. */
function fileOf(bytes: Buffer): OutputFile {
  const handle = {
    read: async (buffer: Buffer, offset: number, length: number, position: number) => ({
      buffer,
      bytesRead: bytes.copy(buffer, offset, position, position + length),
    }),
    createReadStream: ({ start, end }: { start: number; end: number }) =>
      Readable.from(halves(bytes.subarray(start, end + 1))),
  };
  return { handle: handle as never, bytes: bytes.length };
}
