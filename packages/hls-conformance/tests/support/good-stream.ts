import { createCipheriv, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '@framelane/test-kit/run-program';
import { bodyAt, sampleOf } from './box-edit.ts';
import { begins, PID, packetsOf, pidOf } from './transport-edit.ts';

/** A rendition before it is encrypted. */
export type Track = {
  name: string;
  /** Seconds, for the playlist. */
  durations: number[];
  /** Unencrypted. */
  segments: Buffer[];
  /** Null for a transport stream. */
  initialization: Buffer | null;
};

/** The packaging of segments, and the extension of their files. */
export type Format = 'ts' | 'm4s';

export type Media = { format: Format; tracks: Track[]; key: Buffer };

/** Served files, by path below the video. */
export type Files = Map<string, Buffer>;

const H264_RENDITIONS = [
  { name: '90p', size: '160x90', codec: 'avc1.64000b' },
  { name: '180p', size: '320x180', codec: 'avc1.64000c' },
];

/** In fragmented MP4 only. */
const AV1_RENDITIONS = [
  { name: '90p-av1', size: '160x90', codec: 'av01.0.00M.08' },
  { name: '180p-av1', size: '320x180', codec: 'av01.0.00M.08' },
];
const HEVC_RENDITIONS = [
  { name: '90p-hevc', size: '160x90', codec: 'hvc1.1.6.L30.90' },
  { name: '180p-hevc', size: '320x180', codec: 'hvc1.1.6.L60.90' },
];

/** The video renditions of each codec. */
const LADDERS = {
  ts: [H264_RENDITIONS],
  m4s: [H264_RENDITIONS, AV1_RENDITIONS, HEVC_RENDITIONS],
};

/** Tracks that are not in the stream: the audio cut at other times, the lower video with other colour tags, and the higher one in HDR. */
const ALTERNATIVES = ['audio-4s', '90p-bt601', '180p-hevc-pq'];

/** The fields of `av1C` before its OBUs. */
const AV1_CONFIGURATION_BYTES = 4;
const SECONDS = 14;
const TARGET = 6;
const KEY_FRAME_SECONDS = 2;

/**
 * Makes two video renditions of each codec and audio with ffmpeg, as Framelane does: in one run, with the same segment times, and timestamps that begin
 * above zero.
 */
export async function makeMedia(format: Format = 'ts'): Promise<Media> {
  const directory = await mkdtemp(join(tmpdir(), 'hls-conformance-'));
  try {
    await runProgram('ffmpeg', ffmpegArguments(format), { cwd: directory });
    if (format === 'm4s') await runProgram('ffmpeg', newerCodecsArguments(), { cwd: directory });
    const names = [...LADDERS[format].flat().map(({ name }) => name), 'audio', ...ALTERNATIVES];
    const tracks: Track[] = [];
    for (const name of names.filter((each) => format === 'm4s' || !each.includes('hevc')))
      tracks.push(await readTrack(directory, name, format));
    for (const track of tracks) if (track.name.endsWith('-av1')) withSequenceHeader(track);
    const [lowest] = tracks;
    if (lowest) tracks.push(format === 'ts' ? iFramesOf(lowest) : await readIFrames(directory));
    return { format, tracks, key: randomBytes(16) };
  } finally {
    await rm(directory, { recursive: true });
  }
}

const SOURCE = [
  ...['-v', 'error', '-nostdin'],
  ...['-f', 'lavfi', '-i', `testsrc2=s=320x180:r=25:d=${SECONDS}`],
];
const BT709 = ['-color_primaries', 'bt709', '-color_trc', 'bt709', '-colorspace', 'bt709'];

/** The options of the muxer. */
function muxing(format: Format): string[] {
  return [
    ...['-output_ts_offset', '10', '-f', 'hls', '-hls_list_size', '0', '-hls_playlist_type', 'vod'],
    ...(format === 'ts'
      ? []
      : ['-hls_segment_type', 'fmp4', '-hls_segment_options', 'movflags=+frag_discont+cmaf']),
  ];
}

/** The names of the segments and of the initialization section of an output. */
function filesOf(name: string, format: Format): string[] {
  return [
    ...['-hls_segment_filename', `${name}-%d.${format}`, '-hls_fmp4_init_filename', `${name}.mp4`],
    `${name}.m3u8`,
  ];
}

/** AV1 and HEVC, and HEVC in HDR. */
function newerCodecsArguments(): string[] {
  const output = (name: string) => ['-hls_time', String(TARGET), ...muxing('m4s'), ...filesOf(name, 'm4s')];
  const av1 = [
    '-c:v',
    'libsvtav1',
    '-preset',
    '12',
    '-crf',
    '50',
    '-g',
    '50',
    '-svtav1-params',
    'scd=0:lp=1',
  ];
  const options =
    'open-gop=0:scenecut=0:keyint=50:min-keyint=1:pools=none:frame-threads=1:info=0:log-level=none';
  const hevc = ['-c:v', 'libx265', '-preset', 'superfast', '-tag:v', 'hvc1', '-x265-params', options];
  const bt2100 = ['-color_primaries', 'bt2020', '-color_trc', 'smpte2084', '-colorspace', 'bt2020nc'];
  return [
    ...SOURCE,
    ...[
      '-filter_complex',
      '[0:v]format=yuv420p,split=4[s][top1][top2][t];[s]scale=160:90,split[low1][low2];[t]format=yuv420p10[hdr]',
    ],
    ...['-map', '[low1]', ...av1, ...BT709, ...output('90p-av1')],
    ...['-map', '[top1]', ...av1, ...BT709, ...output('180p-av1')],
    ...['-map', '[low2]', ...hevc, ...BT709, ...output('90p-hevc')],
    ...['-map', '[top2]', ...hevc, ...BT709, ...output('180p-hevc')],
    ...['-map', '[hdr]', ...hevc, ...bt2100, ...output('180p-hevc-pq')],
  ];
}

function ffmpegArguments(format: Format): string[] {
  const common = muxing(format);
  const files = (name: string) => filesOf(name, format);
  const video = [
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-profile:v', 'high', '-bf', '2', '-threads', '1'],
    ...['-g', '50', '-sc_threshold', '0', ...BT709],
  ];
  const bt601 = 'h264_metadata=colour_primaries=6:transfer_characteristics=6:matrix_coefficients=6';
  return [
    ...SOURCE,
    ...['-f', 'lavfi', '-i', `sine=r=48000:d=${SECONDS}`],
    ...[
      '-filter_complex',
      '[0:v]format=yuv420p,split[top][s];[s]scale=160:90,split=3[low][other][t];[t]fps=1/2:round=up[i];[1:a]aformat=channel_layouts=stereo,asplit[a][b]',
    ],
    ...['-map', '[low]', '-map', '[top]', '-map', '[a]'],
    ...[...video, '-c:a', 'aac', '-b:a', '64k', '-hls_time', String(TARGET), ...common],
    ...['-var_stream_map', 'v:0,agroup:a,name:90p v:1,agroup:a,name:180p a:0,agroup:a,name:audio'],
    ...files('%v'),
    // The same audio, cut at other times.
    ...['-map', '[b]', '-c:a', 'aac', '-b:a', '64k', '-hls_time', '4', ...common],
    ...files('audio-4s'),
    ...['-map', '[other]', ...video, '-bsf:v', bt601, '-hls_time', String(TARGET), ...common],
    ...files('90p-bt601'),
    ...['-map', '[i]', ...video, '-g', '1', '-hls_time', '1', ...common],
    ...files('i-frames'),
  ];
}

async function readTrack(directory: string, name: string, format: Format): Promise<Track> {
  const listed = await readFile(join(directory, `${name}.m3u8`), 'utf8');
  const durations = [...listed.matchAll(/^#EXTINF:([\d.]+)/gm)].map(([, seconds]) => Number(seconds));
  const segments = await Promise.all(
    durations.map((_, at) => readFile(join(directory, `${name}-${at}.${format}`))),
  );
  const initialization = format === 'ts' ? null : await readFile(join(directory, `${name}.mp4`));
  return { name, durations, segments, initialization };
}

/** SVT-AV1 writes another sequence header for the initialization section than in its frames. This takes that of the first frame. */
function withSequenceHeader({ initialization, segments: [first] }: Track): void {
  if (initialization === null || first === undefined) return;
  const at = bodyAt(initialization, 'av1C') + AV1_CONFIGURATION_BYTES;
  sampleOf(first, 0).copy(initialization, at, 0, 2 + initialization.readUInt8(at + 1));
}

/** One frame every two seconds, encoded alone. */
async function readIFrames(directory: string): Promise<Track> {
  const track = await readTrack(directory, 'i-frames', 'm4s');
  return { ...track, durations: track.durations.map(() => KEY_FRAME_SECONDS) };
}

/** Makes a segment of each IDR frame of a track, which has one every two seconds: the tables of its segment (three packets), then the frame. */
function iFramesOf({ segments }: Track): Track {
  const frames = segments.flatMap((segment) => {
    const packets = packetsOf(segment);
    const tables = packets.slice(0, 3);
    const starts = packets.flatMap((packet, at) =>
      pidOf(packet) === PID.stream && begins(packet) ? at : [],
    );
    return starts.flatMap((start, at) => {
      const frame = packets.slice(start, starts[at + 1]).filter((packet) => pidOf(packet) === PID.stream);
      const isKeyFrame = ((frame[0]?.readUInt8(5) ?? 0) & 0x40) !== 0;
      return isKeyFrame ? Buffer.concat([...tables, ...frame]) : [];
    });
  });
  return {
    name: 'i-frames',
    durations: frames.map(() => KEY_FRAME_SECONDS),
    segments: frames,
    initialization: null,
  };
}

/** A copy whose tracks can be changed, without the alternatives. */
export function copyOf({ format, tracks, key }: Media): Media {
  const copies = tracks
    .filter(({ name }) => !ALTERNATIVES.includes(name))
    .map(({ name, durations, segments, initialization }) => ({
      name,
      durations: [...durations],
      segments: segments.map((segment) => Buffer.from(segment)),
      initialization: initialization && Buffer.from(initialization),
    }));
  return { format, tracks: copies, key };
}

/** Encrypts media and writes its playlists: everything a server needs. */
export function publish({ format, tracks, key }: Media): Files {
  const files: Files = new Map([['key', key]]);
  for (const { name, durations, segments, initialization } of tracks) {
    files.set(`${name}/index.m3u8`, Buffer.from(mediaPlaylist(durations, format, name === 'i-frames')));
    if (initialization !== null) files.set(`${name}/init.mp4`, initialization);
    for (const [at, segment] of segments.entries())
      files.set(`${name}/${at}.${format}`, encrypt(segment, key, vectorOf(at)));
  }
  publishCaptions({ format, tracks }, files);
  files.set('chapters.json', Buffer.from(JSON.stringify(CHAPTERS)));
  files.set('master.m3u8', Buffer.from(masterPlaylist({ format, tracks }, files)));
  return files;
}

/** The first timestamp of the video: to the offset of 10 s, ffmpeg adds 1.4 s in transport streams. */
export const FIRST_TIMESTAMP = 11.4 * 90_000;
const FIRST_TIMESTAMPS = { ts: FIRST_TIMESTAMP, m4s: 10 * 90_000 };

const CHAPTERS = [
  { chapter: 1, 'start-time': 0, duration: 5, titles: [{ language: 'und', title: 'Opening' }] },
  { chapter: 2, 'start-time': 5, duration: 9, titles: [{ language: 'und', title: 'Rest' }] },
];

/** One cue during each segment, and one that begins in the first segment and ends in the second. */
function publishCaptions({ format, tracks }: Pick<Media, 'format' | 'tracks'>, files: Files): void {
  const durations = tracks.find(({ name }) => name === '180p')?.durations ?? [];
  files.set('captions/index.m3u8', Buffer.from(captionsPlaylist(durations)));
  for (const at of durations.keys()) {
    const own = `00:00:${String(at * TARGET + 1).padStart(2, '0')}.000 --> 00:00:${String(at * TARGET + 2).padStart(2, '0')}.000\nCue ${at}\n`;
    const crossing = at < 2 ? '\n00:00:05.000 --> 00:00:11.000 line:0\nCrossing\n' : '';
    const map = `X-TIMESTAMP-MAP=MPEGTS:${FIRST_TIMESTAMPS[format]},LOCAL:00:00:00.000`;
    files.set(`captions/${at}.vtt`, Buffer.from(`WEBVTT\n${map}\n\n${own}${crossing}`));
  }
}

function captionsPlaylist(durations: readonly number[]): string {
  return mediaPlaylist(durations, 'ts', false)
    .replace(/#EXT-X-KEY.*\n/, '')
    .replaceAll('.ts', '.vtt');
}

export function vectorOf(sequence: number): Buffer {
  return Buffer.from(sequence.toString(16).padStart(32, '0'), 'hex');
}

export function encrypt(segment: Buffer, key: Buffer, vector: Buffer): Buffer {
  const cipher = createCipheriv('aes-128-cbc', key, vector);
  return Buffer.concat([cipher.update(segment), cipher.final()]);
}

function mediaPlaylist(durations: readonly number[], format: Format, iFramesOnly: boolean): string {
  return [
    ...['#EXTM3U', '#EXT-X-VERSION:6', `#EXT-X-TARGETDURATION:${TARGET}`, '#EXT-X-MEDIA-SEQUENCE:0'],
    ...(iFramesOnly ? ['#EXT-X-I-FRAMES-ONLY'] : []),
    '#EXT-X-PLAYLIST-TYPE:VOD',
    ...(format === 'ts' ? [] : ['#EXT-X-MAP:URI="init.mp4"']),
    '#EXT-X-KEY:METHOD=AES-128,URI="../key"',
    ...durations.flatMap((seconds, at) => [`#EXTINF:${seconds.toFixed(6)},`, `${at}.${format}`]),
    ...['#EXT-X-ENDLIST', ''],
  ].join('\n');
}

function masterPlaylist({ format, tracks }: Pick<Media, 'format' | 'tracks'>, files: Files): string {
  const rates = new Map(tracks.map((track) => [track.name, ratesOf(track, format, files)]));
  const audio = rates.get('audio') ?? { peak: 0, average: 0 };
  const variants = LADDERS[format].flatMap((ladder) =>
    ladder
      .map((rendition) => {
        const { peak, average } = rates.get(rendition.name) ?? { peak: 0, average: 0 };
        return { ...rendition, peak: peak + audio.peak, average: average + audio.average };
      })
      .sort((a, b) => b.average - a.average),
  );
  return [
    ...['#EXTM3U', '#EXT-X-VERSION:6', '#EXT-X-INDEPENDENT-SEGMENTS'],
    '#EXT-X-SESSION-DATA:DATA-ID="com.apple.hls.chapters",URI="chapters.json"',
    '#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="audio",NAME="Audio",LANGUAGE="und",DEFAULT=YES,AUTOSELECT=YES,CHANNELS="2",URI="audio/index.m3u8"',
    '#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="captions",NAME="English",LANGUAGE="en",DEFAULT=NO,AUTOSELECT=YES,URI="captions/index.m3u8"',
    `#EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=${Math.ceil(rates.get('i-frames')?.peak ?? 0)},CODECS="avc1.64000b",RESOLUTION=160x90,URI="i-frames/index.m3u8"`,
    ...variants.flatMap(({ name, size, codec, peak, average }) => [
      `#EXT-X-STREAM-INF:BANDWIDTH=${Math.ceil(peak)},AVERAGE-BANDWIDTH=${Math.ceil(average)},CODECS="${codec},mp4a.40.2",RESOLUTION=${size},FRAME-RATE=25.000,AUDIO="audio",SUBTITLES="captions",CLOSED-CAPTIONS=NONE`,
      `${name}/index.m3u8`,
    ]),
    '',
  ].join('\n');
}

/** Peak and average bit rate as RFC 8216 §4.1 defines them: the peak is that of any run of segments of 0.5 to 1.5 target durations. */
function ratesOf(
  { name, durations }: Track,
  format: Format,
  files: Files,
): { peak: number; average: number } {
  const weights = durations.map((seconds, at) => ({
    seconds,
    bytes: files.get(`${name}/${at}.${format}`)?.length ?? 0,
  }));
  const runs = weights.flatMap((_, from) => weights.map((_, to) => weights.slice(from, to + 1)));
  const counted = runs.filter((run) => {
    const seconds = sum(run.map((each) => each.seconds));
    return seconds >= 0.5 * TARGET && seconds <= 1.5 * TARGET;
  });
  const rate = (run: typeof weights) =>
    (8 * sum(run.map((each) => each.bytes))) / sum(run.map((each) => each.seconds));
  return { peak: Math.max(rate(weights), ...counted.map(rate)), average: rate(weights) };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
