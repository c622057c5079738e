import { readFile } from 'node:fs/promises';
import { type Frame, framesOf, type StreamFacts, streamsOf } from './ffprobe.ts';
import type { Rendition, Segment } from './hls.ts';
import { elementaryStream, type Packet, packetsOf, streamPid } from './transport-stream.ts';

/** A segment taken to pieces. */
export type MeasuredSegment = Segment & {
  packets: Packet[];
  /** Bytes of its elementary stream. */
  stream: Buffer;
  /** In the order they are stored in. */
  frames: Frame[];
};

/** A rendition taken to pieces. Times are ticks of its transport stream. */
export type MeasuredRendition = {
  facts: StreamFacts;
  segments: MeasuredSegment[];
  /** When each segment begins. */
  starts: number[];
  /** When the last frame ends. */
  end: number;
  /** How long one frame lasts, on average. */
  frameTicks: number;
  /** When each frame is shown, from first to last. */
  times: number[];
};

/** Looks into every segment of a rendition. Throws when one is no transport stream with one elementary stream. */
export async function measureRendition(rendition: Rendition): Promise<MeasuredRendition> {
  const segments: MeasuredSegment[] = [];
  for (const segment of rendition.segments) {
    const packets = packetsOf(await readFile(segment.clear));
    const stream = elementaryStream(packets, streamPid(packets));
    segments.push({ ...segment, packets, stream, frames: await framesOf(segment.clear) });
  }
  const [first] = rendition.segments;
  const [facts] = first ? await streamsOf(first.clear) : [];
  if (facts === undefined) throw new Error(`${rendition.url} has nothing to play`);
  const times = segments.flatMap(({ frames }) => frames.map(({ pts }) => pts)).sort((a, b) => a - b);
  const frameTicks = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / (times.length - 1);
  return {
    facts,
    segments,
    starts: segments.map(({ frames }) => Math.min(...frames.map(({ pts }) => pts))),
    end: (times.at(-1) ?? 0) + frameTicks,
    frameTicks,
    times,
  };
}
