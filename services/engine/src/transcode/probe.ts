import { PROBE_OPTIONS, SOURCE_INPUT } from './input-limits.ts';
import { type AudioTrack, PROBED_ENTRIES, readSource, type VideoTrack } from './media-source.ts';
import { PacketTimeline, type Timeline } from './packet-timeline.ts';
import { runTool } from './run-tool.ts';
import { checkTimeline, chooseTracks } from './source-checks.ts';
import { refusal } from './transcode-failure.ts';
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

const PACKET_ENTRIES = 'packet=pts_time,dts_time,duration_time:packet_side_data=side_data_type';
/** What ffprobe calls the key id and vectors that MP4's common encryption gives each packet. */
const ENCRYPTION_INFO = 'Encryption info';

/** Looks at the source in the job's directory. Throws a TranscodeFailure that refuses it, or a ToolError. */
export async function probe(options: ProbeOptions): Promise<ProbedSource> {
  const source = readSource(await describe(options));
  const { video, audio } = chooseTracks(source);
  const clockMayBreak = BROKEN_CLOCK_CONTAINERS.includes(source.container);
  const timeline = await measure(new PacketTimeline(source.startTime, clockMayBreak), video, options);
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
  packets: PacketTimeline,
  video: VideoTrack,
  { program, cwd, signal, limits }: ProbeOptions,
): Promise<Timeline | null> {
  const select = ['-select_streams', String(video.index), '-of', 'csv=p=0'];
  let isEncrypted = false;
  await runTool(program, ffprobeArguments(...select, '-show_entries', PACKET_ENTRIES), {
    cwd,
    signal,
    limitSeconds: limits.scanSeconds,
    onLine: (line) => {
      // Columns come in ffprobe's own order, whatever order they are asked for; `N/A` becomes NaN.
      const [pts, dts, duration, sideData] = line.split(',');
      if (duration !== undefined) packets.add(Number(pts), Number(dts), Number(duration));
      if (sideData === ENCRYPTION_INFO) isEncrypted = true;
    },
  });
  if (isEncrypted) throw refusal('unsupported_codec', 'The video track is encrypted.');
  return packets.result();
}

function ffprobeArguments(...entries: string[]): string[] {
  return ['-v', 'error', ...PROBE_OPTIONS, ...entries, '-i', SOURCE_INPUT];
}
