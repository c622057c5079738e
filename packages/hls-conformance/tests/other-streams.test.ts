import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Random } from '@framelane/test-kit/random';
import { runProgram } from '@framelane/test-kit/run-program';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { parse, setOptions, types } from 'hls-parser';
import { judge, violations } from '../src/check.ts';
import { loadPresentation } from '../src/load-presentation.ts';
import type { Presentation } from '../src/presentation.ts';
import { RULES } from '../src/rules.ts';
import { encryptInitialization } from './support/fragment-mutations.ts';
import {
  copyOf,
  encrypt,
  FIRST_TIMESTAMP,
  type Files,
  type Format,
  type Media,
  makeMedia,
  publish,
} from './support/good-stream.ts';
import { StreamServer } from './support/stream-server.ts';
import { shift } from './support/transport-edit.ts';

setOptions({ strictMode: true });

let directory: string;
let server: StreamServer;

beforeAll(async () => {
  server = await StreamServer.start();
});
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hls-conformance-'));
});
afterEach(() => rm(directory, { recursive: true }));
afterAll(() => server.stop());

const SOURCE = ['-f', 'lavfi', '-i', 'testsrc2=s=320x180:r=30000/1001:d=9', '-f', 'lavfi', '-i', 'sine=d=9'];
const H264 = [
  '-c:v',
  'libx264',
  '-preset',
  'ultrafast',
  '-pix_fmt',
  'yuv420p',
  '-g',
  '60',
  '-sc_threshold',
  '0',
];
/** AV1 in a pixel format. */
const libaom = (format: string) => [
  ...['-c:v', 'libaom-av1', '-cpu-used', '8', '-usage', 'realtime', '-pix_fmt', format],
];
/** HEVC in a pixel format, with more options. */
const libx265 = (format: string, options = 'bframes=2') => [
  ...['-c:v', 'libx265', '-preset', 'ultrafast', '-tag:v', 'hvc1', '-pix_fmt', format],
  ...['-x265-params', `log-level=none:${options}`],
];
const HLS = ['-f', 'hls', '-hls_time', '6', '-hls_list_size', '0', '-hls_playlist_type', 'vod'];
const MASTER = ['-master_pl_name', 'master.m3u8'];

/** Makes a stream with ffmpeg's HLS muxer and checks it. */
async function check(...options: string[]): Promise<{ presentation: Presentation; found: string[] }> {
  await runProgram('ffmpeg', ['-v', 'error', '-nostdin', ...SOURCE, ...options], { cwd: directory });
  server.files = new Map();
  for (const name of await readdir(directory)) server.files.set(name, await readFile(join(directory, name)));
  const presentation = await loadPresentation(server.url);
  return { presentation, found: violations(judge(presentation, 'standard'), ['must', 'should', 'own']) };
}

/** The reason why a rule is not applicable. */
function reasonOf(id: string, presentation: Presentation): string | undefined {
  const verdict = RULES.find((rule) => rule.id === id)?.check(presentation, {});
  return verdict?.outcome === 'not applicable' ? verdict.reason : undefined;
}

const idsOf = (found: readonly string[]) => [...new Set(found.map((line) => line.split(':')[0]))].sort();

/** What the master playlists of ffmpeg lack. */
const MISSING_ATTRIBUTES = [
  'master.average-bandwidth',
  'master.bandwidth',
  'master.frame-rate',
  'master.i-frame-playlists',
  'master.independent-segments',
  'master.several-variants',
];

describe("ffmpeg's own streams", () => {
  test('muxed and unencrypted: only missing attributes of the master playlist are reported', async () => {
    const { found } = await check(...H264, '-c:a', 'aac', '-b:a', '64k', ...HLS, ...MASTER, 'out.m3u8');
    expect(idsOf(found)).toEqual(MISSING_ATTRIBUTES);
  });

  test('interlaced, cropped and reordered frames are read as ffprobe reads them', async () => {
    const { presentation } = await check(
      ...[
        '-vf',
        'scale=322:180',
        ...H264,
        '-flags',
        '+ilme+ildct',
        '-bf',
        '3',
        '-profile:v',
        'main',
        '-b:v',
        '300k',
        '-an',
        ...['-color_primaries', 'bt470bg', '-color_trc', 'bt709', '-colorspace', 'smpte170m'],
      ],
      ...[...HLS, ...MASTER, 'out.m3u8'],
    );
    const [first] = presentation.renditions[0]?.segments ?? [];
    const file = join(directory, 'out0.ts');
    const options = ['-v', 'error', '-of', 'json', '-show_streams', '-show_packets'];
    const probed = JSON.parse((await runProgram('ffprobe', [...options, file])).stdout);
    const [stream] = probed.streams;
    const times = probed.packets.map(({ pts }: { pts: number }) => pts);
    expect(first?.content?.video).toMatchObject({
      frames: times.length,
      first: times[0],
      earliest: Math.min(...times),
      latest: Math.max(...times),
      parameters: {
        width: stream.width,
        height: stream.height,
        colours: { primaries: 5, transfer: 1, matrix: 6, fullRange: false },
      },
    });
    expect([stream.width, stream.height]).toEqual([322, 180]);
    expect([stream.color_primaries, stream.color_transfer]).toEqual(['bt470bg', 'bt709']);
  });

  test('fragmented MP4 is read as ffprobe reads it, and only missing attributes are reported', async () => {
    // Decoding times are as in the segments, and composition offsets positive: ffprobe moves all times if one is negative.
    const movie = 'movflags=+frag_discont+default_base_moof:use_editlist=0';
    const options = ['-hls_segment_type', 'fmp4', '-hls_segment_options', movie];
    const video = [...H264, '-bf', '2', '-vf', 'scale=322:180', '-output_ts_offset', '3'];
    const { presentation, found } = await check(
      ...[...video, '-c:a', 'aac', '-b:a', '64k', ...HLS, ...options, ...MASTER, 'out.m3u8'],
    );
    expect(idsOf(found)).toEqual([
      // Without an edit list, the video is late by the delay of its encoder.
      'alignment.audio-start',
      ...MISSING_ATTRIBUTES,
    ]);
    const files = ['init.mp4', 'out0.m4s'].map((name) => server.files.get(name) ?? Buffer.alloc(0));
    await writeFile(join(directory, 'first.mp4'), Buffer.concat(files));
    const { stdout } = await runProgram('ffprobe', [
      ...['-v', 'error', '-of', 'json', '-show_packets', '-show_streams', join(directory, 'first.mp4')],
    ]);
    const { packets, streams } = JSON.parse(stdout);
    const times = (type: string) =>
      packets
        .filter((packet: { codec_type: string }) => packet.codec_type === type)
        .map(({ pts_time }: { pts_time: string }) => Number(pts_time));
    const content = presentation.renditions[0]?.segments[0]?.content;
    expect(content?.video).toMatchObject({
      frames: times('video').length,
      parameters: { width: streams[0].width, height: streams[0].height },
    });
    expect([(content?.video?.earliest ?? 0) / 90_000, (content?.video?.latest ?? 0) / 90_000]).toEqual([
      expect.closeTo(Math.min(...times('video')), 3),
      expect.closeTo(Math.max(...times('video')), 3),
    ]);
    expect(content?.audio?.frames).toBe(times('audio').length);
    expect((content?.audio?.start ?? 0) / 90_000).toBeCloseTo(times('audio')[0], 3);
    expect(content?.audio?.config).toEqual({
      objectType: 2,
      sampleRate: Number(streams[1].sample_rate),
      channels: streams[1].channels,
    });
  });

  test.each([
    ['AV1 in 8 bits', libaom('yuv420p'), ['av01.0.00M.08', 'av01.0.00M.08.0.110.05.01.06.0']],
    ['AV1 in 10 bits', libaom('yuv420p10le'), ['av01.0.00M.10', 'av01.0.00M.10.0.110.05.01.06.0']],
    ['AV1 in 4:4:4', libaom('yuv444p'), ['av01.1.00M.08.0.000.05.01.06.0']],
    ['AV1 in 4:2:2 and 12 bits', libaom('yuv422p12le'), ['av01.2.00M.12.0.100.05.01.06.0']],
    [
      'AV1 of SVT',
      ['-c:v', 'libsvtav1', '-preset', '12', '-pix_fmt', 'yuv420p10le'],
      ['av01.0.00M.10', 'av01.0.00M.10.0.110.05.01.06.0'],
    ],
    ['HEVC in 8 bits', libx265('yuv420p'), ['hvc1.1.6.L60.90']],
    ['HEVC in 10 bits', libx265('yuv420p10le'), ['hvc1.2.4.L60.90']],
    ['HEVC in 4:2:2 and 12 bits', libx265('yuv422p12le'), ['hvc1.4.10.L60.99.8']],
    ['HEVC with layers', libx265('yuv420p', 'temporal-layers=1:bframes=3'), ['hvc1.1.6.L60.90']],
    ['HEVC with scaling lists', libx265('yuv420p', 'scaling-list=default'), ['hvc1.1.6.L60.90']],
    [
      'HEVC in the high tier',
      libx265('yuv420p', 'level-idc=5.1:high-tier=1:vbv-maxrate=90000:vbv-bufsize=90000'),
      ['hvc1.1.6.H153.90'],
    ],
  ])('%s is read as ffprobe reads it', async (_what, encoder, names) => {
    const colours = ['-color_primaries', 'bt470bg', '-color_trc', 'bt709', '-colorspace', 'smpte170m'];
    const { presentation } = await check(
      ...['-vf', 'scale=322:180', ...encoder, ...colours, '-frames:v', '6', '-b:v', '100k', '-an'],
      ...[...HLS, '-hls_segment_type', 'fmp4', ...MASTER, 'out.m3u8'],
    );
    const files = ['init.mp4', 'out0.m4s'].map((name) => server.files.get(name) ?? Buffer.alloc(0));
    await writeFile(join(directory, 'first.mp4'), Buffer.concat(files));
    const { stdout } = await runProgram('ffprobe', [
      ...['-v', 'error', '-of', 'json', '-show_packets', '-show_streams', join(directory, 'first.mp4')],
    ]);
    const { packets, streams } = JSON.parse(stdout);
    expect(presentation.renditions[0]?.segments[0]?.content).toMatchObject({
      damage: null,
      video: {
        frames: packets.length,
        opening: { start: { isKey: true }, lacking: [] },
        parameters: {
          names,
          width: streams[0].width,
          height: streams[0].height,
          colours: { primaries: 5, transfer: 1, matrix: 6, fullRange: false },
        },
      },
    });
    expect(streams[0]).toMatchObject({ width: 322, height: 180, color_primaries: 'bt470bg' });
    expect(presentation.initializations.flatMap(({ violations: found }) => found)).toEqual([]);
  });

  test('segments encrypted with the same vector are decrypted and reported', async () => {
    await writeFile(join(directory, 'key.bin'), Buffer.alloc(16, 7));
    await writeFile(join(directory, 'key.info'), 'key.bin\nkey.bin\n');
    const { presentation, found } = await check(
      ...[...H264, '-an', ...HLS, '-b:v', '200k', '-hls_key_info_file', 'key.info', ...MASTER, 'out.m3u8'],
    );
    expect(idsOf(found)).toContain('encryption.vectors');
    expect(idsOf(found)).not.toContain('encryption.whole-segments');
    expect(presentation.renditions[0]?.segments.map(({ decryption }) => decryption.state)).toEqual([
      'decrypted',
      'decrypted',
    ]);
  });

  test.each([
    ['byte ranges', [...HLS, '-hls_flags', 'single_file'], 'byte ranges'],
    [
      'fragmented MP4 in byte ranges',
      [...HLS, '-hls_segment_type', 'fmp4', '-hls_flags', 'single_file'],
      'byte ranges',
    ],
    ['live', ['-f', 'hls', '-hls_time', '6', '-hls_flags', 'omit_endlist'], 'live'],
  ])('%s is reported as not read', async (_what, options, reason) => {
    const { presentation, found } = await check(...H264, '-c:a', 'aac', ...options, ...MASTER, 'out.m3u8');
    expect(presentation.notes.join()).toContain(reason);
    expect(reasonOf('media.durations', presentation)).toContain(reason);
    expect(idsOf(found).filter((id) => /^(segments|alignment|encryption|media)\./.test(id ?? ''))).toEqual(
      [],
    );
  });

  test('HEVC in a transport stream is reported, and its segments break no other rule', async () => {
    const hevc = ['-c:v', 'libx265', '-x265-params', 'log-level=none', '-preset', 'ultrafast', '-c:a', 'aac'];
    const { found } = await check(...hevc, ...HLS, ...MASTER, 'out.m3u8');
    expect(
      idsOf(found).filter((id) => /^(codecs|segments|alignment|media\.durations)/.test(id ?? '')),
    ).toEqual(['codecs.container']);
  });

  test.each([
    ['MP3', ['-map', '1', '-c:a', 'libmp3lame']],
    ['AC-3', [...H264, '-c:a', 'ac3']],
  ])('%s in a transport stream breaks no rule of segments', async (_what, options) => {
    const { found } = await check(...options, ...HLS, ...MASTER, 'out.m3u8');
    expect(idsOf(found).filter((id) => /^(segments|alignment|media\.durations)/.test(id ?? ''))).toEqual([]);
  });

  test('a media playlist alone breaks no rule', async () => {
    const { presentation, found } = await check(...H264, '-an', ...HLS, 'master.m3u8');
    expect(presentation.master).toBeNull();
    expect(found).toEqual([]);
  });
});

describe('a good stream', () => {
  let media: Media;
  beforeAll(async () => {
    media = await makeMedia();
  });

  test('is read as hls-parser reads it', async () => {
    server.files = publish(copyOf(media));
    const { master, renditions } = await loadPresentation(server.url);
    const parsed = parse(server.files.get('master.m3u8')?.toString() ?? '');
    if (!(parsed instanceof types.MasterPlaylist)) throw new Error('It is not a master playlist');
    expect(master?.variants.map(({ uri }) => uri)).toEqual(
      parsed.variants.filter(({ isIFrameOnly }) => !isIFrameOnly).map(({ uri }) => uri),
    );
    for (const { url, segments } of renditions) {
      const path = new URL(url).pathname.replace('/video/', '');
      const playlist = parse(server.files.get(path)?.toString() ?? '');
      if (!(playlist instanceof types.MediaPlaylist)) throw new Error(`${path} is not a media playlist`);
      expect(segments.map(({ uri, duration, sequence }) => ({ uri, duration, sequence }))).toEqual(
        playlist.segments.map(({ uri, duration, mediaSequenceNumber }) => ({
          uri,
          duration,
          sequence: mediaSequenceNumber,
        })),
      );
    }
  });

  test('with SAMPLE-AES is reported as not read', async () => {
    server.files = publish(copyOf(media));
    for (const [path, file] of server.files) {
      if (path.endsWith('/index.m3u8')) {
        server.files.set(path, Buffer.from(file.toString().replace('METHOD=AES-128', 'METHOD=SAMPLE-AES')));
      }
    }
    const presentation = await loadPresentation(server.url);
    expect(presentation.notes.join()).toContain('SAMPLE-AES');
    expect(violations(judge(presentation, 'standard'))).toEqual([]);
  });

  test.each<[string, string, (text: string) => string | Buffer]>([
    ['encrypted captions', 'encrypted', (vtt) => encrypt(Buffer.from(vtt), media.key, Buffer.alloc(16))],
    ['captions in byte ranges', 'byte ranges', (vtt) => vtt],
  ])('with %s is reported as not read', async (_what, reason, alter) => {
    server.files = publish(copyOf(media));
    const tag =
      reason === 'encrypted' ? '#EXT-X-KEY:METHOD=AES-128,URI="../key",IV=0x0\n' : '#EXT-X-BYTERANGE:50@0\n';
    for (const [path, file] of server.files) {
      if (path.endsWith('.vtt')) server.files.set(path, Buffer.from(alter(file.toString())));
      if (path !== 'captions/index.m3u8') continue;
      server.files.set(path, Buffer.from(file.toString().replaceAll(/^#EXTINF/gm, `${tag}#EXTINF`)));
    }
    const presentation = await loadPresentation(server.url);
    expect(presentation.notes).toEqual([
      expect.stringMatching(new RegExp(`^the captions of captions/index.m3u8 .* ${reason}$`)),
    ]);
    const report = judge(presentation, 'standard');
    expect(violations(report)).toEqual([]);
    for (const id of ['captions.webvtt', 'captions.cues']) {
      expect(report.results.find((result) => result.id === id)).toMatchObject({ outcome: 'not applicable' });
    }
  });

  test('whose clock wraps after 33 bits follows every rule', async () => {
    const copy = copyOf(media);
    const ticks = 2 ** 33 - 1_700_000;
    // The clock wraps in the second segment.
    for (const segment of copy.tracks.flatMap(({ segments }) => segments)) shift(segment, ticks);
    server.files = publish(copy);
    for (const [path, file] of server.files) {
      if (!path.endsWith('.vtt')) continue;
      const text = file.toString().replace(/MPEGTS:\d+/, `MPEGTS:${FIRST_TIMESTAMP + ticks}`);
      server.files.set(path, Buffer.from(text));
    }
    expect(violations(judge(await loadPresentation(server.url), 'standard'), ['must', 'should'])).toEqual([]);
  });

  test('with an encrypted initialization section is read', async () => {
    const fragments = await makeMedia('m4s');
    server.files = publish(copyOf(fragments));
    encryptInitialization(server.files, fragments);
    const presentation = await loadPresentation(server.url);
    expect(violations(judge(presentation, 'standard'), ['must', 'should'])).toEqual([]);
  });

  test.each<Format>(['ts', 'm4s'])('with altered bytes is judged without a crash: %s', async (format) => {
    const source = format === 'ts' ? media : await makeMedia(format);
    const random = new Random(7);
    for (let round = 0; round < 60; round += 1) {
      server.files = publishDamaged(source, random);
      const report = judge(await loadPresentation(server.url, { timeoutSeconds: 5 }), 'framelane');
      expect(report.results.length).toBe(RULES.length);
    }
  });
});

/** Files of a stream in which segments, playlists and initialization sections are damaged. */
function publishDamaged(media: Media, random: Random): Files {
  const copy = copyOf(media);
  for (const { segments } of copy.tracks)
    damage(random, segments[random.below(segments.length)] ?? Buffer.alloc(1), 20);
  const files = publish(copy);
  for (const [path, file] of files) {
    // The first 30 bytes stay: without the first tags it is not a playlist.
    if (path.endsWith('.m3u8')) damage(random, file, 3, 30);
    if (path.endsWith('.mp4')) damage(random, file, 3);
  }
  return files;
}

/** Replaces less than this many bytes of a file from an offset on. */
function damage(random: Random, bytes: Buffer, times: number, from = 0): void {
  for (let count = random.below(times); count > 0; count -= 1)
    bytes[from + random.below(bytes.length - from)] = random.below(256);
}
