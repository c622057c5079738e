import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { SOURCE_PATH } from '../sandbox/job-folder.ts';
import { ToolError } from '../sandbox/run-tool.ts';
import { containerTraits } from './containers.ts';
import { type ProbeOptions, runFfprobe } from './ffprobe.ts';
import { type MediaSource, PROBED_ENTRIES, readSource } from './media-source.ts';
import { PACKET_ENTRIES, type Packet, type PacketList, readLine, readPacketList } from './packets.ts';
import { CHAPTER_ENTRIES, MAX_CHAPTER_CHARS } from './source-chapters.ts';
import { TrackArrivals } from './track-arrivals.ts';

/** A file as ffprobe describes it. */
export type DescribedFile = {
  source: MediaSource;
  /** Null if they have not been read. */
  packets: PacketList | null;
};

/** Maximum number of characters of ffprobe's description of a file without chapters: language tags can be megabytes long. */
export const MAX_DESCRIPTION_CHARS = 256 * 1024;

/** Files up to this size are described with their packets, if they have fewer of them than this. */
const SMALL_FILE_BYTES = 32 * 1024 ** 2;
const MANY_PACKETS = 2000;
/** Maximum number of characters of these packets: twice what they have without side data. */
const MAX_PACKETS_CHARS = MANY_PACKETS * 400;

/** Maximum number of characters of ffprobe's list of all packets: several times what the allowed number of packets takes. */
const MAX_LIST_CHARS = 2 ** 34;

/**
 * Describes the source of a job, a small one with its packets: each start of ffprobe takes as long as it needs to read thousands of
 * them. Throws a ToolError, or a refusal if the file has too many tracks.
 */
export async function describeFile(options: ProbeOptions): Promise<DescribedFile> {
  const { size } = await stat(join(options.cwd, SOURCE_PATH));
  const described = size <= SMALL_FILE_BYTES ? await describeWithPackets(options) : null;
  return described ?? { source: await describeAlone(options), packets: null };
}

/** Passes each packet of a file to `onPacket`. Resolves with the number of tracks at its end. Throws as `runTool` does. */
export async function readEachPacket(
  { packets: list }: DescribedFile,
  options: ProbeOptions,
  onPacket: (packet: Packet) => void,
): Promise<number> {
  if (list) {
    for (const packet of list.packets) onPacket(packet);
    return list.trackCount;
  }
  let trackCount = 0;
  await runFfprobe(options, ['-show_entries', PACKET_ENTRIES, '-of', 'csv=p=0'], {
    limitSeconds: options.limits.scanSeconds,
    limitOutput: MAX_LIST_CHARS,
    onLine: (line) => {
      const read = readLine(line);
      if (read === null) return;
      if ('trackCount' in read) trackCount = read.trackCount;
      else onPacket(read);
    },
  });
  return trackCount;
}

/**
 * Null if ffprobe fails or finds too many packets, or if the packets may have changed the description: ffprobe completes the parameters of
 * a track that begins late, which ffmpeg will not know, and replaces tags. Throws if it takes too long.
 */
async function describeWithPackets(options: ProbeOptions): Promise<DescribedFile | null> {
  const entries = [PROBED_ENTRIES, CHAPTER_ENTRIES, PACKET_ENTRIES];
  const limit = MAX_DESCRIPTION_CHARS + MAX_CHAPTER_CHARS + MAX_PACKETS_CHARS;
  const described = await description(options, entries, limit, '-read_intervals', `%+#${MANY_PACKETS}`).catch(
    (error: unknown) => {
      if (error instanceof ToolError && error.end !== 'timeout') return null;
      throw error;
    },
  );
  if (described === null) return null;
  const packets = readPacketList(described);
  if (packets.packets.length >= MANY_PACKETS) return null;
  const source = readSource(described);
  if (containerTraits(source.container).tagsMayChange) return null;
  const arrivals = new TrackArrivals(source.startTime);
  for (const { index, pts, at } of packets.packets) arrivals.add(index, pts, at);
  arrivals.countTracks(packets.trackCount);
  return arrivals.areEarly(source) ? { source, packets } : null;
}

/** Chapters can be of any number and length. A file whose list of them exceeds the limit is described without them. */
async function describeAlone(options: ProbeOptions): Promise<MediaSource> {
  const entries = [PROBED_ENTRIES, CHAPTER_ENTRIES];
  try {
    return readSource(await description(options, entries, MAX_DESCRIPTION_CHARS + MAX_CHAPTER_CHARS));
  } catch (error) {
    if (!(error instanceof ToolError && error.end === 'output_limit')) throw error;
    const source = readSource(await description(options, [PROBED_ENTRIES], MAX_DESCRIPTION_CHARS));
    return { ...source, chapters: 'too_many' };
  }
}

/** What ffprobe prints as JSON. */
async function description(
  options: ProbeOptions,
  entries: readonly string[],
  limitOutput: number,
  ...part: string[]
): Promise<unknown> {
  const lines: string[] = [];
  // ffprobe reports as a warning which track it could not open.
  const shown = ['-v', 'warning', ...part, '-show_entries', entries.join(':'), '-of', 'json=compact=1'];
  await runFfprobe(options, shown, { limitOutput, onLine: (line) => lines.push(line) });
  return JSON.parse(lines.join('\n'));
}
