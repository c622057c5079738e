import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { runTool } from '../ffmpeg/run-tool.ts';
import { SOURCE_INPUT, SOURCE_PATH } from '../sandbox/job-folder.ts';
import { PROBE_OPTIONS } from '../sandbox/whitelist.ts';
import { refusal } from '../transcode-failure.ts';
import type { TranscodeLimits } from '../transcode-settings.ts';
import { type AudioFrames, AudioScan } from './audio-scan.ts';
import { containerTraits } from './containers.ts';
import { wholePictures } from './frame-pairing.ts';
import { toNumber } from './frame-rate.ts';
import { type Gop, type GopFlaw, GopScan } from './gop-scan.ts';
import {
  type AudioTrack,
  describeTrack,
  type MediaSource,
  PROBED_ENTRIES,
  readSource,
  type TrackName,
  type VideoTrack,
} from './media-source.ts';
import { PacketBudget } from './packet-budget.ts';
import { PacketTimeline, type Timeline } from './packet-timeline.ts';
import { checkTimeline, chooseTracks, MAX_FRAME_RATE, VideoBudget } from './source-checks.ts';

/** A source that can be transcoded, and what is taken of it. */
export type ProbedSource = {
  container: string;
  video: VideoTrack;
  audio: AudioTrack | null;
  /** The tracks that are not delivered. */
  leftOut: readonly TrackName[];
  timeline: Timeline;
  /** Seconds from zero to the end of the last packet of any track, and what a container says of the whole that does. */
  end: number;
  declaredDuration: number | null;
  /** The video's groups of pictures, or why they cannot be delivered as they are. */
  gops: Gop[] | GopFlaw;
  /** The frames of AAC sound; null when there is none that could be delivered as it is. */
  audioFrames: AudioFrames | null;
};

/** What the packets of the chosen tracks say. */
type Measured = Pick<ProbedSource, 'end' | 'gops' | 'audioFrames'> & { timeline: Timeline | null };

type ProbeOptions = {
  /** The confined ffprobe. */
  program: string;
  /** The job's directory. */
  cwd: string;
  signal: AbortSignal;
  limits: Pick<TranscodeLimits, 'probeSeconds' | 'scanSeconds' | 'maxDurationSeconds'>;
};

/** Characters in which a file may describe itself; names of languages can be megabytes long. */
const MOST_FACTS = 256 * 1024;
/** Characters that ffprobe prints for all packets: several times what the most packets take. */
const MOST_PACKET_FACTS = 2 ** 34;

/** Pictures that show whether a track is interlaced when nothing else says so. */
const PICTURES_LOOKED_AT = 10;

const PACKET_ENTRIES =
  'packet=stream_index,pts_time,dts_time,duration_time,size,flags:packet_side_data=side_data_type';
/** What ffprobe calls the key id and vectors that MP4's common encryption gives each packet. */
const ENCRYPTION_INFO = 'Encryption info';

/** Looks at the source in the job's directory. Throws a TranscodeFailure that refuses it, or a ToolError. */
export async function probe(options: ProbeOptions): Promise<ProbedSource> {
  const source = readSource(await describe(options));
  const tracks = chooseTracks(source);
  const { timeline, ...packets } = await measure(source, tracks, options);
  checkTimeline(timeline, tracks.video.coded, options.limits.maxDurationSeconds);
  const { container, declaredDuration } = source;
  const video = tracks.video.hidesFields ? await withFields(tracks.video, options) : tracks.video;
  return {
    ...{ container, declaredDuration, ...packets },
    ...{ video, audio: tracks.audio, leftOut: tracks.leftOut, timeline: wholePictures(timeline, video) },
  };
}

async function describe({ program, cwd, signal, limits }: ProbeOptions): Promise<string> {
  const lines: string[] = [];
  // Which track it could not open is a warning.
  const args = ffprobeArguments('-show_entries', PROBED_ENTRIES, '-of', 'json');
  await runTool(program, ['-v', 'warning', ...args], {
    cwd,
    signal,
    limitSeconds: limits.probeSeconds,
    limitOutput: MOST_FACTS,
    onLine: (line) => lines.push(line),
  });
  return lines.join('\n');
}

/** Decodes the first pictures to see whether they are interlaced. */
async function withFields(
  video: VideoTrack,
  { program, cwd, signal, limits }: ProbeOptions,
): Promise<VideoTrack> {
  const part = ['-select_streams', String(video.index), '-read_intervals', `%+#${PICTURES_LOOKED_AT}`];
  const entries = ['-show_entries', 'frame=interlaced_frame', '-of', 'csv=p=0'];
  let interlaced = false;
  await runTool(program, ['-v', 'error', ...ffprobeArguments(...part, ...entries)], {
    cwd,
    signal,
    limitSeconds: limits.probeSeconds,
    limitOutput: MOST_FACTS,
    onLine: (line) => {
      interlaced ||= line.startsWith('1');
    },
  });
  return { ...video, interlaced };
}

/**
 * Reads all packets, which decodes nothing: as fast as the disk. Stops at the first packet that is beyond what a video may have,
 * and keeps next to nothing of each: sample tables of some kilobytes can claim millions.
 */
async function measure(
  { container, startTime, tracks }: MediaSource,
  { video, audio }: Pick<ProbedSource, 'video' | 'audio'>,
  { program, cwd, signal, limits }: ProbeOptions,
): Promise<Measured> {
  const timeline = new PacketTimeline(startTime, containerTraits(container).clockMayBreak);
  const rate = video.declaredRate ? toNumber(video.declaredRate) : Number.POSITIVE_INFINITY;
  const gops = rate <= MAX_FRAME_RATE ? new GopScan(startTime, rate) : null;
  const frames = audio?.codec === 'aac' ? new AudioScan(startTime, audio.sampleRate) : null;
  const encrypted = new Set<number>();
  const { size: fileBytes } = await stat(join(cwd, SOURCE_PATH));
  const budget = new PacketBudget(fileBytes, limits.maxDurationSeconds);
  const videoBudget = new VideoBudget(video.coded, limits.maxDurationSeconds);
  let end = 0;
  const args = ffprobeArguments('-show_entries', PACKET_ENTRIES, '-of', 'csv=p=0');
  await runTool(program, ['-v', 'error', ...args], {
    cwd,
    signal,
    limitSeconds: limits.scanSeconds,
    limitOutput: MOST_PACKET_FACTS,
    onLine: (line) => {
      // Columns come in ffprobe's own order, whatever order they are asked for; `N/A` becomes NaN.
      const [stream, pts, dts, duration, size, flags, ...sideData] = line.split(',');
      budget.spend(Number(size));
      if (flags === undefined) return;
      const index = Number(stream);
      const times = { pts: Number(pts), dts: Number(dts) };
      end = Math.max(end, (times.pts || times.dts || 0) + (Number(duration) || 0));
      if (sideData.includes(ENCRYPTION_INFO)) encrypted.add(index);
      if (index === audio?.index) frames?.add(times.pts, Number(size));
      if (index !== video.index) return;
      timeline.add(times.pts, times.dts, Number(duration));
      videoBudget.check(timeline.frames, timeline.end);
      gops?.add({
        ...times,
        bytes: Number(size),
        isKey: flags.includes('K'),
        isHidden: flags.includes('D'),
      });
    },
  });
  const locked = tracks.find(
    ({ index }) => encrypted.has(index) && [video.index, audio?.index].includes(index),
  );
  if (locked) throw refusal('unsupported_codec', `Track ${describeTrack(locked)} is encrypted.`);
  return {
    end,
    timeline: timeline.result(),
    gops: gops?.result() ?? 'irregular',
    audioFrames: frames?.result() ?? null,
  };
}

function ffprobeArguments(...entries: string[]): string[] {
  return [...PROBE_OPTIONS, ...entries, '-i', SOURCE_INPUT];
}
