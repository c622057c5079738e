import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PACKAGING_NAMES, PACKAGING_OF_ALTERNATIVES } from '@framelane/contracts/packaging';
import { ALTERNATIVE_CODECS, PLAIN_CODEC, videoRendition } from '@framelane/contracts/renditions';
import { makeClip } from '@framelane/test-kit/clips';
import { runProgram } from '@framelane/test-kit/run-program';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { VideoDemands } from '../../src/encoders/encoder.ts';
import { encoderOf } from '../../src/encoders/encoders.ts';
import { videoCopyOptions } from '../../src/ffmpeg/encoder-options.ts';
import { readInitializationFile } from '../../src/outputs/renditions/output-reader.ts';
import type { SegmentInfo, SegmentReader } from '../../src/packagers/packager.ts';
import { packagerOf } from '../../src/packagers/packagers.ts';
import { initializationFile, segmentFile } from '../../src/packagers/segment-files.ts';
import { BT709 } from '../../src/plan/colour.ts';
import { type OutputFile, readFrom, ToolOutput } from '../../src/sandbox/tool-output.ts';
import { PROBED_ENTRIES, readSource } from '../../src/source/media-source.ts';

const CASES = [
  ...PACKAGING_NAMES.map((packaging) => [PLAIN_CODEC, packaging] as const),
  ...ALTERNATIVE_CODECS.map((codec) => [codec, PACKAGING_OF_ALTERNATIVES] as const),
];

/** What every encoder must do, with every packager that carries its codec. */
describe.each(CASES)('the encoder of %s, packed as %s', (codec, packaging) => {
  const packager = packagerOf(packaging);
  const encoder = encoderOf(videoRendition('360p', codec));
  let directory: string;
  let clip: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'framelane-encoders-'));
    clip = await makeClip(join(directory, 'clip.mkv'), { video: 'testsrc2=s=320x180:r=25:d=2' });
  });
  afterAll(() => rm(directory, { recursive: true }));

  const encoded = (demands: Partial<VideoDemands> = {}) => [
    ...['-c:v', encoder.program],
    ...encoder
      .options({
        width: 320,
        height: 180,
        framesPerSecond: 25,
        maxRate: 800_000,
        bufferSize: 1_600_000,
        preset: 'veryfast',
        isSmall: true,
        ...demands,
      })
      .flatMap(([name, value]) => [`${name}:v`, value]),
    ...['-maxrate', '800000', '-bufsize', '1600000', '-g', '51', '-threads', '1'],
    ...['-force_key_frames', 'expr:gte(t,n_forced)'],
  ];

  async function segmentsOf(name: string, input: string, options: readonly string[]): Promise<SegmentInfo[]> {
    const folder = join(directory, name);
    await mkdir(folder);
    await runProgram('ffmpeg', [
      ...[
        '-v',
        'error',
        '-i',
        input,
        '-map',
        '0:v',
        ...options,
        '-f',
        'hls',
        '-hls_time',
        '1',
        '-hls_list_size',
        '0',
      ],
      ...[
        ...packager.hlsOptions(initializationFile('v')),
        '-hls_segment_filename',
        join(folder, segmentFile('v', '%d', packager)),
        join(folder, 'v.m3u8'),
      ],
    ]);
    return withFiles(folder, (file, reader) => reader.read(file, { isCopy: true }));
  }

  async function withFiles<T>(
    folder: string,
    read: (file: OutputFile, reader: SegmentReader) => Promise<T>,
  ): Promise<T[]> {
    const output = await ToolOutput.open(folder);
    const results: T[] = [];
    const section = await readInitializationFile(output, initializationFile('v'), packager);
    const reader = packager.open(encoder.reader, section);
    for (const sequence of [0, 1]) {
      const file = await output.file(segmentFile('v', sequence, packager), 10_000_000);
      if (file === null) throw new Error('A segment is missing');
      results.push(await read(file, reader).finally(() => file.handle.close()));
    }
    await output.close();
    return results;
  }

  test('makes segments that decoding can start at, all with one configuration', async () => {
    const [first, second] = await segmentsOf('encoded', clip, encoded());
    expect(first).toMatchObject({ units: 25, configuration: second?.configuration, codecs: second?.codecs });
    // An initialization section has the configuration.
    expect(first?.configuration === null).toBe(packager.hasInitialization);
    expect(first?.initialization).toBe(second?.initialization);
    expect((second?.start ?? 0) - (first?.start ?? 0)).toBeCloseTo(1, 3);
    expect((first?.last ?? 0) - (first?.start ?? 0)).toBeCloseTo(0.96, 3);
  });

  test('makes I-frames that can be decoded alone, and segments that another run can continue', async () => {
    const folder = join(directory, 'encoded');
    const frames = await withFiles(folder, (file, reader) => reader.iFrames(readFrom(file), 0.5));
    expect(frames.map(({ length }) => length)).toEqual([1, 1]);
    const segment = await readFile(join(folder, segmentFile('v', 0, packager)));
    expect(packager.completed(segment).length).toBeGreaterThanOrEqual(segment.length);
  });

  test('prints nothing after the errors of a run, of which the last lines are kept', async () => {
    const truncated = join(directory, 'truncated.mkv');
    await writeFile(truncated, (await readFile(clip)).subarray(0, -3000));
    const args = ['-v', 'error', '-i', truncated, '-map', '0:v', ...encoded(), '-f', 'null', '-'];
    const { stderr } = await runProgram('ffmpeg', args);
    const lines = stderr.trimEnd().split('\n');
    const first = lines.findIndex((line) => line.includes('File ended prematurely'));
    expect(first).not.toBe(-1);
    expect(lines.slice(first).filter((line) => !/^\[|Error/.test(line))).toEqual([]);
  });

  test('copies what it has made, with a configuration that does not change', async () => {
    const file = join(directory, 'own.mp4');
    await runProgram('ffmpeg', ['-v', 'error', '-i', clip, ...encoded(), '-pix_fmt', 'yuv420p', file]);
    const { stdout } = await runProgram('ffprobe', [
      '-v',
      'error',
      '-show_entries',
      PROBED_ENTRIES,
      '-of',
      'json',
      file,
    ]);
    const [track] = readSource(JSON.parse(stdout)).videoTracks;
    expect(track && encoder.copyObstacle(track)).toBeNull();
    const copied = await segmentsOf(
      'copied',
      file,
      videoCopyOptions({ name: videoRendition('360p', codec) }, { colour: BT709 }),
    );
    expect(new Set(copied.map(({ configuration }) => configuration)).size).toBe(1);
    const { stdout: hashes } = await runProgram('ffmpeg', [
      ...['-v', 'error', '-i', file, '-c', 'copy', '-bsf:v', encoder.configurationFilters],
      ...['-f', 'framehash', '-hash', 'md5', '-'],
    ]);
    const lines = hashes.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    if (!encoder.framesMayConfigure) {
      expect(lines).toEqual([]);
      return;
    }
    expect(lines.length).toBeGreaterThan(1);
    expect(new Set(lines.map((line) => line.split(',')[5])).size).toBe(1);
  });

  test('does not copy a track in another codec', () => {
    const track = { codec: 'vp9', profile: 'Profile 0', level: 30 };
    expect(encoder.copyObstacle(track as never)).toBe('codec');
  });
});
