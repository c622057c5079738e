import { z } from 'zod';
import { runProgram } from './run-program.ts';

/** Ticks of a second in the timestamps of a transport stream. */
export const TICKS = 90_000;

const packetList = z.object({
  packets: z.array(z.object({ pts: z.int(), duration: z.int().positive(), flags: z.string() })),
});

const streamList = z.object({
  streams: z.array(
    z.object({
      codec_type: z.string(),
      codec_name: z.string(),
      width: z.int().optional(),
      height: z.int().optional(),
      r_frame_rate: z.string(),
      channels: z.int().optional(),
    }),
  ),
});

/** A frame as the demuxer tells of it; times in ticks. */
export type Frame = { pts: number; duration: number; key: boolean };

/** What a stream says of itself. */
export type StreamFacts = {
  type: string;
  codec: string;
  width: number | null;
  height: number | null;
  /** Frames a second; 0 for audio. */
  frameRate: number;
  channels: number | null;
};

/** The frames of a transport stream with one elementary stream, in the order they are stored in. */
export async function framesOf(file: string): Promise<Frame[]> {
  const { packets } = packetList.parse(await ffprobe('-show_packets', file));
  return packets.map(({ pts, duration, flags }) => ({ pts, duration, key: flags.startsWith('K') }));
}

/** The streams of a file, or of the presentation at a URL. */
export async function streamsOf(source: string): Promise<StreamFacts[]> {
  const { streams } = streamList.parse(await ffprobe('-show_streams', source));
  return streams.map((stream) => ({
    type: stream.codec_type,
    codec: stream.codec_name,
    width: stream.width ?? null,
    height: stream.height ?? null,
    frameRate: quotient(stream.r_frame_rate),
    channels: stream.channels ?? null,
  }));
}

async function ffprobe(...args: string[]): Promise<unknown> {
  const { stdout } = await runProgram('ffprobe', ['-v', 'error', '-of', 'json', ...args]);
  return JSON.parse(stdout);
}

function quotient(fraction: string): number {
  const [dividend, divisor] = fraction.split('/').map(Number);
  return divisor ? (dividend ?? 0) / divisor : 0;
}
