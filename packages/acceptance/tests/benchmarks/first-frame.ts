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
 * Prints how long after the upload a long video can be played on this machine. It can be played when its playlists and the first segments
 * of the top rendition and of the audio are fetched and decrypted. Then plays it at the speed of a viewer who buffers half a minute, and
 * prints how long that viewer waited.
 */

const WORKSPACE_ID = 'ws_01j9z3w8x2f5m7k4q6r8t0v1ye';
const POLL_MS = 100;
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
type Clip = { size: string; minutes: number; codec: Codec; plays: boolean };

async function measure(name: string, clip: Clip): Promise<void> {
  const file = await makeLongClip(clip);
  const ticket = await client.uploadTickets.create({ filename: 'long.mp4', playbackPolicy: 'public' });
  await upload(file, ticket);
  const uploaded = performance.now();
  const since = () => (performance.now() - uploaded) / 1000;
  const hls = await firstAddress(ticket.videoId);
  const preview = since();
  const viewer = await Viewer.begin(hls);
  const firstFrame = since();
  const [ready, waited] = clip.plays
    ? await Promise.all([client.videos.waitUntilReady(ticket.videoId).then(since), viewer.play()])
    : [];
  print(line([name, ...[preview, firstFrame, ready, waited].map((seconds) => seconds?.toFixed(1) ?? '–')]));
  await client.videos.delete(ticket.videoId);
}

/** Waits until a video can be played. Resolves with its URL. */
async function firstAddress(videoId: string): Promise<string> {
  for (;;) {
    const video = await client.videos.get(videoId);
    const hls = video.hls ?? video.preview?.hls;
    if (hls !== undefined) return hls;
    if (video.status === 'failed') throw new Error(`The video failed: ${video.error?.code}`);
    await pause(POLL_MS);
  }
}

/** Encodes twenty seconds of video once, and repeats them as often as needed. */
async function makeLongClip({ size, minutes, codec }: Clip): Promise<string> {
  const [short, repeated, long] = ['short', 'repeated', 'long.mp4'].map((file) => join(directory, file)) as [
    string,
    string,
    string,
  ];
  const input = ['-f', 'lavfi', '-i', `testsrc2=s=${size}:r=${FRAME_RATE}:d=20`];
  await ffmpeg([...input, '-pix_fmt', 'yuv420p', ...codec.options, '-f', codec.format, short]);
  await writeFile(repeated, '');
  const content = await readFile(short);
  for (let at = 0; at < 3 * minutes; at += 1) await appendFile(repeated, content);
  const video = ['-f', codec.format, '-framerate', FRAME_RATE, '-i', repeated];
  const audio = ['-f', 'lavfi', '-i', `sine=d=${60 * minutes}:r=48000`, '-c:a', 'aac', '-ac', '2'];
  const times = `setts=ts=N/(${FRAME_RATE}*TB):duration=1/(${FRAME_RATE}*TB)`;
  await ffmpeg([...video, ...audio, '-c:v', 'copy', '-bsf:v', times, long]);
  return long;
}

async function ffmpeg(options: string[]): Promise<void> {
  await runProgram('ffmpeg', ['-v', 'error', '-y', ...options]);
}

/** One track of the stream, as a playlist lists it. */
type Track = { segments: { url: string; seconds: number }[]; key: Buffer };

/** Plays the top rendition and the default audio. */
class Viewer {
  readonly #tracks: readonly Track[];

  private constructor(tracks: readonly Track[]) {
    this.#tracks = tracks;
  }

  /** Resolves when the first segments are decrypted. */
  static async begin(hls: string): Promise<Viewer> {
    const master = (await read(hls)).toString();
    const variants = [...master.matchAll(/RESOLUTION=\d+x(\d+).*\n(.+)/g)].map(([, height, uri]) => ({
      height: Number(height),
      uri: String(uri),
    }));
    const top = variants.toSorted((a, b) => b.height - a.height)[0]?.uri;
    const audio = /TYPE=AUDIO.*URI="([^"]+)"/.exec(master)?.[1];
    const playlists = [top, audio].filter((uri) => uri !== undefined).map((uri) => new URL(uri, hls).href);
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
    ...{ url: new URL(String(uri), playlist).href, seconds: Number(seconds) },
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
  print(line(['seconds after the upload', 'preview', 'first frame', 'ready', 'viewer waits']));
  await measure('20 min 1080p, passthrough', { size: '1920x1080', minutes: 20, codec: H264, plays: false });
  await measure('3 min 720p, encoded', { size: '1280x720', minutes: 3, codec: MPEG4, plays: true });
} finally {
  await node.stop();
  await rm(directory, { recursive: true });
}
