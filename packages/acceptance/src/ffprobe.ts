import { runProgram } from '@framelane/test-kit/run-program';
import { z } from 'zod';

const streamList = z.object({
  streams: z.array(
    z.object({
      codec_type: z.string(),
      codec_name: z.string(),
      width: z.int().optional(),
      height: z.int().optional(),
      channels: z.int().optional(),
    }),
  ),
});

/** Properties of a stream. */
export type StreamFacts = {
  type: string;
  codec: string;
  width: number | null;
  height: number | null;
  channels: number | null;
};

/** The streams of a file or URL. */
export async function streamsOf(source: string): Promise<StreamFacts[]> {
  const { streams } = streamList.parse(await ffprobe('-show_streams', source));
  return streams.map((stream) => ({
    type: stream.codec_type,
    codec: stream.codec_name,
    width: stream.width ?? null,
    height: stream.height ?? null,
    channels: stream.channels ?? null,
  }));
}

async function ffprobe(...args: string[]): Promise<unknown> {
  const { stdout } = await runProgram('ffprobe', ['-v', 'error', '-of', 'json', ...args]);
  return JSON.parse(stdout);
}
