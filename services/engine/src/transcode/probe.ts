import { PROBE_OPTIONS, SOURCE_INPUT } from './input-limits.ts';
import {
  type AudioTrack,
  type MediaSource,
  PROBED_ENTRIES,
  readSource,
  type VideoTrack,
} from './media-source.ts';
import { PacketTimeline, type Timeline } from './packet-timeline.ts';
import { runTool } from './run-tool.ts';
import { checkTimeline, chooseTracks } from './source-checks.ts';
import type { TranscodeLimits } from './transcode-settings.ts';

/** A source that can be transcoded, and what is taken of it. */
export type ProbedSource = {
  container: string;
  video: VideoTrack;
  audio: AudioTrack | null;
  timeline: Timeline;
};

type ProbeOptions = {
  /** The confined ffprobe. */
  program: string;
  /** The job's directory. */
  cwd: string;
  signal: AbortSignal;
  limits: Pick<TranscodeLimits, 'probeSeconds' | 'scanSeconds' | 'maxDurationSeconds'>;
};

/** Containers whose clock may start over in the middle. */
const BROKEN_CLOCK_CONTAINERS = ['mpegts', 'mpeg'];

/** Looks at the source in the job's directory. Throws a TranscodeFailure that refuses it, or a ToolError. */
export async function probe(options: ProbeOptions): Promise<ProbedSource> {
  const source = readSource(await describe(options));
  const { video, audio } = chooseTracks(source);
  const timeline = await measure(source, video, options);
  checkTimeline(timeline, options.limits.maxDurationSeconds);
  return { container: source.container, video, audio, timeline };
}

async function describe({ program, cwd, signal, limits }: ProbeOptions): Promise<string> {
  const lines: string[] = [];
  await runTool(program, ffprobeArguments('-show_entries', PROBED_ENTRIES, '-of', 'json'), {
    cwd,
    signal,
    limitSeconds: limits.probeSeconds,
    onLine: (line) => lines.push(line),
  });
  return lines.join('\n');
}

/** Reads all packets, which decodes nothing: as fast as the disk. */
async function measure(
  { container, startTime }: MediaSource,
  video: VideoTrack,
  { program, cwd, signal, limits }: ProbeOptions,
): Promise<Timeline | null> {
  const packets = new PacketTimeline(startTime, BROKEN_CLOCK_CONTAINERS.includes(container));
  const entries = [
    '-select_streams',
    String(video.index),
    '-show_entries',
    'packet=pts_time,dts_time,duration_time',
  ];
  await runTool(program, ffprobeArguments(...entries, '-of', 'csv=p=0'), {
    cwd,
    signal,
    limitSeconds: limits.scanSeconds,
    onLine: (line) => addPacket(packets, line),
  });
  return packets.result();
}

/** ffprobe writes the columns in its own order, whatever order they are asked for; `N/A` becomes NaN. */
function addPacket(packets: PacketTimeline, line: string): void {
  const [pts, dts, duration] = line.split(',');
  if (duration !== undefined) packets.add(Number(pts), Number(dts), Number(duration));
}

function ffprobeArguments(...entries: string[]): string[] {
  return ['-v', 'error', ...PROBE_OPTIONS, ...entries, '-i', SOURCE_INPUT];
}
