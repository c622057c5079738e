import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import { describe, expect, test } from '@jest/globals';
import { audioPlan, encodePlan } from '../../tests/support/tracks.ts';
import { wholeArguments } from '../outputs/whole-run.ts';
import { planLadder } from '../plan/ladder.ts';

const lineFor = (changes: Partial<EncodePlan> = {}) =>
  wholeArguments(encodePlan(changes), { preset: 'veryfast', threads: 2 });
/** The options of the renditions, without those of the images. */
const renditionsFor = (changes: Partial<EncodePlan> = {}) =>
  lineFor(changes)
    .outputs.slice(0, -2)
    .map(({ options }) => options);
const streamsFor = (changes: Partial<EncodePlan> = {}) => renditionsFor(changes).flat();
const optionValue = (options: readonly string[], name: string) => options[options.indexOf(name) + 1];

describe('the ffmpeg arguments', () => {
  test('allow only the source file, in the listed containers and codecs', () => {
    const { inputOptions, input } = lineFor();
    expect(input).toBe('file:source/file');
    expect(optionValue(inputOptions, '-protocol_whitelist')).toBe('file');
    expect(optionValue(inputOptions, '-format_whitelist')).not.toMatch(/hls|concat|dash|image2/);
    for (const limit of ['-format_whitelist', '-codec_whitelist', '-max_streams', '-max_pixels'])
      expect(inputOptions).toContain(limit);
  });

  test('read tracks that begin late, and long pauses, if the plan says so', () => {
    const late = { seconds: 19, bytes: 9_000_000 };
    const early = { seconds: 10, bytes: 8_000_000 };
    const analysis = { video: early, audio: late, text: early };
    const { inputOptions } = lineFor({ reading: { startTime: 1.4, maxPauseSeconds: 13.04, analysis } });
    expect(optionValue(inputOptions, '-dts_delta_threshold')).toBe('13.04');
    expect(optionValue(inputOptions, '-analyzeduration')).toBe('19000000');
    expect(optionValue(inputOptions, '-probesize')).toBe('9000000');
    // ffmpeg corrects clocks that restart, in one run.
    expect(inputOptions).not.toContain('-copyts');
  });

  test('of one copied rendition', () => {
    const { inputOptions, outputs } = lineFor({
      videoRenditions: planLadder({ width: 640, height: 360 }, 25),
      copiesVideo: true,
      audio: [],
    });
    expect(inputOptions.join(' ')).toMatch(
      /^-nostdin -hide_banner -v error -threads 2 -reinit_filter 0 -noautorotate -protocol_whitelist /,
    );
    const [streams, ...images] = outputs.map(({ options }) => options.join(' '));
    expect(streams?.replace(/\[0:1\]\S+/, '<graph>')).toBe(
      [
        '-filter_complex_threads 2 -filter_complex <graph> -map 0:1',
        '-c:v copy -bsf:v filter_units=remove_types=6,h264_metadata=colour_primaries=1:transfer_characteristics=1:matrix_coefficients=1:video_full_range_flag=0:sample_aspect_ratio=1/1',
        '-map_metadata -1 -map_chapters -1 -t 3 -output_ts_offset 10',
        '-f hls -hls_init_time 2 -hls_list_size 1 -hls_time 6 -hls_flags temp_file -hls_segment_type mpegts',
        '-hls_segment_filename output/360p-%d.ts',
      ].join(' '),
    );
    expect(images).toEqual(
      ['poster', 'storyboard'].map(
        (name) =>
          `-map [${name}] -map_metadata -1 -map_chapters -1 -r 1 -c:v mjpeg -q:v 4 -f image2 -update 1`,
      ),
    );
  });

  test('decode once and scale each rendition from the next higher one', () => {
    const graph = optionValue(streamsFor(), '-filter_complex')?.split(';');
    expect(graph?.[0]).toMatch(
      /^\[0:1\]scale=854:480:interl=-1,fps=25\/1:start_time=0,.*trim=end_frame=50,scale=854:480:.*split=3\[480p\]\[to-360p\]\[to-poster\]$/,
    );
    expect(graph?.[1]).toBe(
      '[to-360p]zscale=640:360:filter=lanczos:range=tv,format=yuv420p,setsar=1,split=2[360p][to-storyboard]',
    );
    expect(graph?.at(-1)).toMatch(/^\[0:0\]aresample=48000.*apad,atrim=end_sample=95232\[audio\]$/);
  });

  test.each([
    ['1080p', 1920, 1080, 2, '2'],
    ['1080p', 1920, 1080, 64, '16'],
    ['4K', 3840, 2160, 64, '16'],
    ['8K', 8192, 4320, 64, '3'],
    ['8K', 8192, 4320, 1, '1'],
  ])('for %s (%sx%s) and %s available threads give the decoder %s', (_, width, height, threads, used) => {
    const settings = { preset: 'veryfast', threads };
    const line = wholeArguments(encodePlan({ coded: { width, height } }), settings);
    expect(optionValue(line.inputOptions, '-threads')).toBe(used);
    const encoders = optionValue(line.outputs[0]?.options ?? [], '-threads:v');
    expect(encoders).toBe(String(Math.min(threads, 16)));
  });

  test('limit the peaks of downmixed audio only, and can let the decoder mix', () => {
    const mixed = lineFor({ audio: [audioPlan({ downmix: true, decodeToStereo: true })] });
    expect(optionValue(mixed.outputs[0]?.options ?? [], '-filter_complex')).toMatch(/stereo,alimiter=/);
    expect(optionValue(streamsFor(), '-filter_complex')).not.toMatch(/alimiter/);
    expect(mixed.inputOptions).toEqual([...lineFor().inputOptions, '-downmix:0', 'stereo']);
  });

  test('write one stream without metadata to each output', () => {
    expect(lineFor().outputs.map(({ path }) => path)).toEqual([
      'output/360p.m3u8',
      'output/480p.m3u8',
      'output/audio.m3u8',
      'output/poster.jpg',
      'output/storyboard.jpg',
    ]);
    const maps = renditionsFor().map((options) => options.filter((_, at) => options[at - 1] === '-map'));
    expect(maps).toEqual([['[360p]'], ['[480p]'], ['[audio]']]);
    for (const options of renditionsFor())
      expect(options.join(' ')).toContain(' -map_metadata -1 -map_chapters -1 -t 3 ');
  });

  test('limit the bit rate of each rendition', () => {
    const renditions = renditionsFor();
    expect(optionValue(renditions[0] ?? [], '-maxrate:v')).toBe('800000');
    expect(optionValue(renditions[1] ?? [], '-bufsize:v')).toBe('2800000');
  });

  test('map several audio renditions', () => {
    const audio = [
      audioPlan({ late: true }),
      audioPlan({ name: 'audio2', index: 2, method: { copiedFrames: 94 } }),
    ];
    const options = streamsFor({ audio });
    expect(options.filter((_, at) => options[at - 1] === '-map').slice(-2)).toEqual(['[audio]', '0:2']);
  });

  test('have no audio options without audio', () => {
    expect(streamsFor({ audio: [] }).join(' ')).not.toMatch(/audio\]|aac/);
  });

  test('copy copied tracks and cut the other renditions at their key frames', () => {
    const renditions = renditionsFor({
      copiesVideo: true,
      audio: [audioPlan({ method: { copiedFrames: 94 } })],
      segmentSeconds: 5,
    });
    const outputOptions = renditions.flat();
    expect(optionValue(outputOptions, '-filter_complex')).toMatch(
      /^\[0:1\][^;]*\[to-360p\]\[to-poster\];\[to-360p\]zscale=640:360[^;]*\[360p\]\[to-storyboard\];/,
    );
    expect(outputOptions.filter((_, at) => outputOptions[at - 1] === '-map')).toEqual([
      '[360p]',
      '0:1',
      '0:0',
    ]);
    const [encoded = [], copied = [], copiedAudio = []] = renditions;
    expect(optionValue(encoded, '-c:v')).toBe('libx264');
    expect(optionValue(encoded, '-force_key_frames:v')).toBe('source');
    expect(optionValue(copied, '-c:v')).toBe('copy');
    expect(copied).not.toContain('-maxrate:v');
    expect(optionValue(copiedAudio, '-c:a')).toBe('copy');
    for (const options of renditions) expect(optionValue(options, '-hls_time')).toBe('5');
  });

  test('take images from frames that are decoded anyway, or from the source if no rendition is encoded', () => {
    const graph = (changes: Partial<EncodePlan>) => optionValue(streamsFor(changes), '-filter_complex') ?? '';
    const full = graph({ videoRenditions: planLadder({ width: 1920, height: 1080 }, 25) });
    expect(full).toMatch(/\[to-720p\]zscale=[^;]*\[to-poster\];.*\[to-360p\]zscale=[^;]*\[to-storyboard\];/);
    expect(full.match(/\[0:1\]/g)).toHaveLength(1);
    expect(
      graph({ videoRenditions: planLadder({ width: 640, height: 360 }, 25), copiesVideo: true }),
    ).toMatch(/^\[0:1\][^;]*split=2\[to-poster\]\[to-storyboard\];/);
  });

  test('convert only incompatible frames', () => {
    const [top] = optionValue(streamsFor({ pixelsCompatible: true }), '-filter_complex')?.split(';') ?? [];
    expect(top).toMatch(/trim=end_frame=50,format=yuv420p,setsar=1,/);
    const small = { pixelsCompatible: true, videoRenditions: planLadder({ width: 640, height: 360 }, 25) };
    const [scaled] = optionValue(streamsFor(small), '-filter_complex')?.split(';') ?? [];
    expect(scaled).toMatch(
      /trim=end_frame=50,zscale=640:360:filter=lanczos:range=tv,format=yuv420p,setsar=1,setparams=/,
    );
  });

  test('contain repair filters only where needed', () => {
    const graph = (changes: Partial<EncodePlan>) => optionValue(streamsFor(changes), '-filter_complex');
    expect(graph({})).not.toMatch(/bwdif|tonemap|in_color_matrix/);
    expect(graph({ deinterlace: 'send_field' })).toMatch(/,bwdif=mode=send_field:.*?,fps=/);
    expect(graph({ deinterlace: 'send_frame', turn: ['transpose=clock'] })).toMatch(
      /,bwdif=[^,]*,transpose=clock,fps=/,
    );
    expect(graph({ dynamicRange: 'hlg' })).toMatch(/color_trc=arib-std-b67.*tonemap=/);
    expect(graph({ assumedMatrix: 'bt601' })).toMatch(/in_color_matrix=bt601:out_color_matrix=bt709/);
  });
});
