import { createDecipheriv, randomBytes } from 'node:crypto';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from '@framelane/client';
import { upload } from '@framelane/client/node';
import { line, print } from '@framelane/test-kit/benchmark-table';
import { runProgram } from '@framelane/test-kit/run-program';
import { SingleNodeProcess } from '@framelane/test-kit/single-node-process';

/**
 * Prints how long after the response to an upload a video can be watched on this machine: until its playlists and the first segments of
 * a video rendition and of the audio are fetched and decrypted. First for 40 uploads one after the other, with p50 and p95. Then plays a
 * long video at the speed of a viewer who buffers half a minute, and prints how long that viewer waited.
 */

const WORKSPACE_ID = 'ws_01j9z3w8x2f5m7k4q6r8t0v1ye';
const POLL_MS = 50;
const FRAME_RATE = '30';
/** Without B-frames, so that frames can be counted. */
const H264 = {
  format: 'h264',
  options: [
    '-c:v',
    'libx264',
    '-preset',
    'ultrafast',
    '-bf',
    '0',
    '-g',
    '60',
    '-b:v',
    '3M',
    '-maxrate',
    '3500k',
    '-bufsize',
    '3500k',
  ],
};
const MPEG4 = { format: 'm4v', options: ['-c:v', 'mpeg4', '-g', '60', '-b:v', '4M'] };
/** Engines notice within five seconds that a video is deleted. */
const DELETION_MS = 6000;
/** Seconds of video that are repeated in longer clips. */
const ONCE_SECONDS = 10;
/** A video without a first frame by then is encoded more slowly than it plays. It does not count in the quantiles. */
const LIMIT_SECONDS = 60;
/** Seconds that players buffer. */
const BUFFER_SECONDS = 30;

const directory = await mkdtemp(join(tmpdir(), 'framelane-bench-first-frame-'));
const apiKey = `svc_live_${randomBytes(32).toString('hex')}`;
const node = await SingleNodeProcess.start(join(directory, 'data'), {
  BOOTSTRAP_WORKSPACE_ID: WORKSPACE_ID,
  BOOTSTRAP_API_KEY: apiKey,
});
const client = createClient({ baseUrl: node.baseUrl, apiKey, workspaceId: WORKSPACE_ID });
type Codec = { format: string; options: string[] };
type Clip = { size: string; seconds: number; codec: Codec };

/** The uploads: 480p to 1080p, as a form and resumably. */
const DURATIONS = [5, 30, 100, 1200];
const CODECS = [
  { name: 'kept', codec: H264 },
  { name: 'encoded', codec: MPEG4 },
];
const SIZES = [
  { size: '854x480', ways: ['form', 'tus'] },
  { size: '1280x720', ways: ['form'] },
  { size: '1920x1080', ways: ['form', 'tus'] },
] as const;

/** A video that can be watched, and when, in seconds after the response to its upload. */
type Watchable = { viewer: Viewer; since: () => number; preview: number; firstFrame: number };

/** Uploads a file, and waits for its first frame. `watchable` is undefined if there is none within `limitSeconds`. */
async function measure(
  file: string,
  way: 'form' | 'tus',
  limitSeconds: number,
): Promise<{ videoId: string; watchable: Watchable | undefined }> {
  const ticket = await client.uploadTickets.create({ filename: 'clip.mp4', playbackPolicy: 'public' });
  const { videoId } = ticket;
  await upload(file, ticket, { resumableAbove: way === 'tus' ? 0 : Number.POSITIVE_INFINITY });
  const uploaded = performance.now();
  const since = () => (performance.now() - uploaded) / 1000;
  const hls = await firstAddress(videoId, () => since() < limitSeconds);
  if (hls === undefined) return { videoId, watchable: undefined };
  const preview = since();
  const viewer = await Viewer.begin(hls);
  return { videoId, watchable: { viewer, since, preview, firstFrame: since() } };
}

async function measureFirstFrames(): Promise<void> {
  print(line(['seconds after the upload', 'upload', 'preview', 'first frame']));
  const all: { group: string; firstFrame: number | undefined }[] = [];
  for (const seconds of DURATIONS) {
    for (const { name, codec } of CODECS) {
      for (const { size, ways } of SIZES) {
        const file = await makeLongClip({ size, seconds, codec });
        for (const way of ways) {
          const { videoId, watchable } = await measure(file, way, LIMIT_SECONDS);
          const times = [watchable?.preview, watchable?.firstFrame].map((each) => each?.toFixed(2) ?? '–');
          print(line([`${seconds} s of ${size}, ${name}`, way, ...times]));
          all.push({ group: name, firstFrame: watchable?.firstFrame });
          await client.videos.delete(videoId);
          await pause(DELETION_MS);
        }
      }
    }
  }
  print(line(['first frame', 'uploads', 'without', 'p50', 'p95']));
  for (const group of ['all', ...CODECS.map(({ name }) => name)]) {
    const uploads = all.filter((each) => group === 'all' || each.group === group);
    const times = uploads.flatMap(({ firstFrame }) => (firstFrame === undefined ? [] : [firstFrame]));
    const quantiles = [0.5, 0.95].map((part) => quantile(times, part).toFixed(2));
    print(line([group, String(uploads.length), String(uploads.length - times.length), ...quantiles]));
  }
}

/** The smallest of the numbers that at least this part of them does not exceed. */
function quantile(numbers: readonly number[], part: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN;
}

async function measurePlayback(clip: Clip): Promise<void> {
  const { videoId, watchable } = await measure(await makeLongClip(clip), 'tus', Number.POSITIVE_INFINITY);
  if (watchable === undefined) throw new Error('The video cannot be played');
  const { viewer, since, preview, firstFrame } = watchable;
  const [ready, waited] = await Promise.all([
    client.videos.waitUntilReady(videoId).then(since),
    viewer.play(),
  ]);
  print(line(['seconds after the upload', 'preview', 'first frame', 'ready', 'viewer waits']));
  const name = `${clip.seconds} s of ${clip.size}, encoded`;
  print(line([name, ...[preview, firstFrame, ready, waited].map((seconds) => seconds.toFixed(1))]));
}

/** Waits until a video can be played. Resolves with its URL; with undefined when it must not wait any more. */
async function firstAddress(videoId: string, mayWait: () => boolean): Promise<string | undefined> {
  while (mayWait()) {
    const video = await client.videos.get(videoId);
    const hls = video.hls ?? video.preview?.hls;
    if (hls !== undefined) return hls;
    if (video.status === 'failed') throw new Error(`The video failed: ${video.error?.code}`);
    await pause(POLL_MS);
  }
  return undefined;
}

/** Encodes some seconds of video once, and repeats them as often as needed. */
async function makeLongClip({ size, seconds, codec }: Clip): Promise<string> {
  const [short, repeated, long] = ['short', 'repeated', 'long.mp4'].map((file) => join(directory, file)) as [
    string,
    string,
    string,
  ];
  const once = Math.min(seconds, ONCE_SECONDS);
  const input = ['-f', 'lavfi', '-i', `testsrc2=s=${size}:r=${FRAME_RATE}:d=${once}`];
  await ffmpeg([...input, '-pix_fmt', 'yuv420p', ...codec.options, '-f', codec.format, short]);
  await writeFile(repeated, '');
  const content = await readFile(short);
  for (let at = 0; at < seconds / once; at += 1) await appendFile(repeated, content);
  const video = ['-f', codec.format, '-framerate', FRAME_RATE, '-i', repeated];
  const audio = ['-f', 'lavfi', '-i', `sine=d=${seconds}:r=48000`, '-c:a', 'aac', '-ac', '2'];
  const times = `setts=ts=N/(${FRAME_RATE}*TB):duration=1/(${FRAME_RATE}*TB)`;
  await ffmpeg([...video, ...audio, '-c:v', 'copy', '-bsf:v', times, long]);
  return long;
}

async function ffmpeg(options: string[]): Promise<void> {
  await runProgram('ffmpeg', ['-v', 'error', '-y', ...options]);
}

/** One track of the stream, as a playlist lists it. */
type Track = { segments: { url: string; seconds: number }[]; key: Buffer };

/** Plays the first rendition of the master playlist, as players do, and the default audio. */
class Viewer {
  readonly #tracks: readonly Track[];

  private constructor(tracks: readonly Track[]) {
    this.#tracks = tracks;
  }

  /** Resolves when the first segments are decrypted. */
  static async begin(hls: string): Promise<Viewer> {
    const master = (await read(hls)).toString();
    const video = /#EXT-X-STREAM-INF:.*\n(.+)/.exec(master)?.[1];
    const audio = /TYPE=AUDIO.*URI="([^"]+)"/.exec(master)?.[1];
    const playlists = [video, audio].filter((uri) => uri !== undefined).map((uri) => new URL(uri, hls).href);
    const tracks = await Promise.all(playlists.map(trackOf));
    await Promise.all(tracks.map((track) => segmentOf(track, 0)));
    return new Viewer(tracks);
  }

  /** Seconds for which playback waited for segments until the end of the video. */
  async play(): Promise<number> {
    const waits = await Promise.all(this.#tracks.map(playTrack));
    return Math.max(...waits);
  }
}

async function trackOf(playlist: string): Promise<Track> {
  const text = (await read(playlist)).toString();
  const segments = [...text.matchAll(/#EXTINF:([\d.]+),\n(.+)/g)].map(([, seconds, uri]) => ({
    url: new URL(String(uri), playlist).href,
    seconds: Number(seconds),
  }));
  const key = /URI="([^"]+)"/.exec(text)?.[1] ?? '';
  return { segments, key: await read(new URL(key, playlist).href) };
}

/** Fetches each segment when the buffer has room. A late segment makes the viewer wait. */
async function playTrack(track: Track): Promise<number> {
  const begin = performance.now() / 1000;
  let [position, waited] = [0, 0];
  for (const [at, { seconds }] of track.segments.entries()) {
    const playsAt = begin + position + waited;
    const early = playsAt - BUFFER_SECONDS - performance.now() / 1000;
    if (early > 0) await pause(early * 1000);
    await segmentOf(track, at);
    waited += Math.max(0, performance.now() / 1000 - playsAt);
    position += seconds;
  }
  return waited;
}

/** Throws unless a segment can be decrypted. */
async function segmentOf({ segments, key }: Track, sequence: number): Promise<void> {
  const iv = Buffer.alloc(16);
  iv.writeUInt32BE(sequence, 12);
  const decipher = createDecipheriv('aes-128-cbc', key, iv);
  const encrypted = await read(segments[sequence]?.url ?? '');
  const plain = Buffer.concat([decipher.update(encrypted), decipher.final()]);
  if (plain[0] !== 0x47) throw new Error(`Segment ${sequence} is no transport stream`);
}

/** Like players, it repeats a request for a segment that is not available yet. */
async function read(url: string): Promise<Buffer> {
  for (;;) {
    const response = await fetch(url);
    if (response.ok) return Buffer.from(await response.arrayBuffer());
    if (response.status !== 503) throw new Error(`${url} responded with ${response.status}`);
    await pause(Number(response.headers.get('retry-after')) * 1000);
  }
}

try {
  await measureFirstFrames();
  await measurePlayback({ size: '1280x720', seconds: 180, codec: MPEG4 });
} finally {
  await node.stop();
  await rm(directory, { recursive: true });
}
