import { requireLinearTime } from '@framelane/test-kit/growth';
import { describe, expect, test } from '@jest/globals';
import { MAX_DESCRIPTION_CHARS } from './describe-file.ts';
import { describeTrack, readSource } from './media-source.ts';

const probed = (streams: object[], format: object = {}) => ({
  streams: streams.map((stream, index) => ({
    index,
    codec_type: 'video',
    codec_name: 'h264',
    width: 1920,
    height: 1080,
    pix_fmt: 'yuv420p',
    disposition: { default: 1, attached_pic: 0 },
    ...stream,
  })),
  format: { format_name: 'matroska,webm', ...format },
});
const ROTATED = '\n00000000: 0 65536 0\n00000001: -65536 0 0\n00000002: 0 0 1073741824\n';
const firstVideo = (stream: object) => readSource(probed([stream])).videoTracks[0];

describe('a source', () => {
  test.each([
    ['as coded', {}, { width: 1920, height: 1080 }],
    [
      'with non-square pixels',
      { width: 720, height: 576, sample_aspect_ratio: '16:11' },
      { width: 1047, height: 576 },
    ],
    ['with pixels nearly square', { sample_aspect_ratio: '1281:1280' }, { width: 1920, height: 1080 }],
    ['with pixels one percent off square', { sample_aspect_ratio: '101:100' }, { width: 1939, height: 1080 }],
    ['with unknown pixel aspect ratio', { sample_aspect_ratio: '0:1' }, { width: 1920, height: 1080 }],
    ['rotated', { side_data_list: [{ displaymatrix: ROTATED }] }, { width: 1080, height: 1920 }],
    [
      'with less than half a percent off square',
      { sample_aspect_ratio: '1004:1000' },
      { width: 1920, height: 1080 },
    ],
    ['with half a percent off square', { sample_aspect_ratio: '199:200' }, { width: 1910, height: 1080 }],
    [
      'rotated, with non-square pixels',
      { sample_aspect_ratio: '2:1', side_data_list: [{}, { displaymatrix: ROTATED }] },
      { width: 1080, height: 3840 },
    ],
  ])('is displayed %s', (_, stream, size) => {
    expect(firstVideo(stream)?.display).toEqual(size);
  });

  test('of which ffprobe reports nothing has unknown values', () => {
    const disposition = { default: 0, attached_pic: 0 };
    const streams = ['video', 'audio'].map((codec_type, index) => ({ index, codec_type, disposition }));
    const file = { streams, format: { format_name: 'mpegts' } };
    const unknown = { codec: 'unknown', profile: '', encrypted: false, isDefault: false };
    expect(readSource(file)).toEqual({
      container: 'mpegts',
      startTime: 0,
      declaredDuration: null,
      chapters: [],
      startTimes: [Number.NaN, Number.NaN],
      withoutParameters: [0, 1],
      covers: [],
      videoTracks: [
        {
          index: 0,
          ...unknown,
          level: 0,
          coded: { width: 0, height: 0 },
          squarePixels: true,
          turn: [],
          display: { width: 1, height: 0 },
          pixelFormat: '',
          fullRange: false,
          interlaced: false,
          scanTypeUnknown: false,
          dynamicRange: 'sdr',
          needsDolbyVision: false,
          colorMatrix: null,
          colorPrimaries: null,
          colorTransfer: null,
          declaredRate: null,
          declaredDuration: null,
          isIndexed: false,
        },
      ],
      audioTracks: [
        {
          index: 1,
          ...unknown,
          declaredDuration: null,
          sampleRate: 0,
          channels: 0,
          language: null,
          title: null,
          role: null,
        },
      ],
      tracks: [
        { index: 0, kind: 'video', codec: 'unknown', language: null },
        { index: 1, kind: 'audio', codec: 'unknown', language: null },
      ],
    });
  });

  test('has the tracks that ffprobe describes', () => {
    const { videoTracks, audioTracks, tracks, startTime } = readSource(
      probed(
        [
          { profile: 'High', level: 40, codec_tag_string: 'drmi', sample_aspect_ratio: '1:1' },
          {
            codec_type: 'audio',
            codec_name: 'aac',
            profile: 'LC',
            codec_tag_string: 'drms',
            sample_rate: '48000',
            channels: 6,
            tags: { language: 'deu', title: 'Kino' },
          },
          { codec_type: 'subtitle', codec_name: 'mov_text', disposition: { default: 0, attached_pic: 0 } },
          { codec_type: 'data', codec_name: 'bin_data' },
          { codec_type: undefined },
        ],
        { start_time: '1.5' },
      ),
    );
    expect(startTime).toBe(1.5);
    expect(videoTracks).toMatchObject([
      { profile: 'High', level: 40, encrypted: true, squarePixels: true, isDefault: true },
    ]);
    expect(audioTracks).toEqual([
      {
        index: 1,
        codec: 'aac',
        profile: 'LC',
        encrypted: true,
        isDefault: true,
        sampleRate: 48_000,
        channels: 6,
        language: 'de',
        title: 'Kino',
        role: null,
        declaredDuration: null,
      },
    ]);
    expect(tracks.map(describeTrack)).toEqual([
      '1 (video, h264)',
      '2 (audio, aac, de)',
      '3 (subtitles, mov_text)',
    ]);
  });

  test.each([
    ['visual_impaired', 'audio_description'],
    ['descriptions', 'audio_description'],
    ['comment', 'commentary'],
    ['hearing_impaired', 'clear_speech'],
    ['default', null],
  ])('with disposition %s has audio with the role %s', (name, role) => {
    const disposition = { default: 0, attached_pic: 0, [name]: 1 };
    const { audioTracks } = readSource(probed([{ codec_type: 'audio', disposition }]));
    expect(audioTracks).toMatchObject([{ role }]);
  });

  test.each([
    ['pc', 'yuv420p', true],
    ['tv', 'yuv420p', false],
    [undefined, 'yuvj420p', true],
    [undefined, 'p010yuvj', false],
  ])('with range %s and format %s uses the full range: %s', (color_range, pix_fmt, full) => {
    expect(firstVideo({ color_range, pix_fmt })?.fullRange).toBe(full);
  });

  test.each([
    ['progressive', false],
    ['tt', true],
    ['bb', true],
    ['tb', true],
    ['bt', true],
  ])('with field order %s is interlaced: %s', (field_order, interlaced) => {
    expect(firstVideo({ field_order })?.interlaced).toBe(interlaced);
  });

  test.each([
    ['smpte2084', 'pq', 'smpte2084'],
    ['arib-std-b67', 'hlg', 'arib-std-b67'],
    ['bt709', 'sdr', 'bt709'],
    ['unknown', 'sdr', null],
    ['reserved', 'sdr', null],
  ])('with transfer function %s has the dynamic range %s', (color_transfer, dynamicRange, colorTransfer) => {
    expect(firstVideo({ color_transfer })).toMatchObject({ dynamicRange, colorTransfer });
  });

  test.each(['0/0', '25/0', '0/1', '-25/1', 'N/A'])('with frame rate %s declares none', (r_frame_rate) => {
    expect(firstVideo({ r_frame_rate })?.declaredRate).toBeNull();
  });

  test.each([
    ['0', '25/1'],
    ['200', '0/0'],
  ])('in AVI with %s frames at %s declares no duration', (nb_frames, r_frame_rate) => {
    const stream = { duration: '9', nb_frames, r_frame_rate };
    const { videoTracks } = readSource(probed([stream], { format_name: 'avi' }));
    expect(videoTracks[0]?.declaredDuration).toBeNull();
  });

  test('has scan type, dynamic range, colours and frame rate', () => {
    expect(firstVideo({})).toMatchObject({
      interlaced: false,
      dynamicRange: 'sdr',
      colorMatrix: null,
      colorPrimaries: null,
      colorTransfer: null,
      declaredRate: null,
    });
    expect(
      firstVideo({
        field_order: 'tb',
        color_transfer: 'arib-std-b67',
        color_space: 'bt2020nc',
        color_primaries: 'smpte432',
        r_frame_rate: '25/1',
      }),
    ).toMatchObject({
      interlaced: true,
      dynamicRange: 'hlg',
      colorMatrix: 'bt2020nc',
      colorPrimaries: 'smpte432',
      declaredRate: { numerator: 25, denominator: 1 },
    });
  });

  test.each([
    ['h264', 'progressive', false],
    ['h264', 'tt', false],
    ['h264', 'unknown', true],
    ['h264', undefined, true],
    ...['mpeg2video', 'mpeg4', 'mjpeg', 'prores', 'dnxhd', 'dvvideo', 'vc1'].map(
      (codec) => [codec, 'unknown', true] as const,
    ),
    ['vp9', 'unknown', false],
  ])('of %s with field order %s has an unknown scan type: %s', (codec_name, field_order, unknown) => {
    expect(firstVideo({ codec_name, field_order })?.scanTypeUnknown).toBe(unknown);
  });

  test.each([
    [{ nb_frames: '1' }, [1]],
    [{ nb_frames: '1', duration: '0.04' }, [0, 1]],
    [{ nb_frames: '2' }, [0, 1]],
    // A fragmented file has no index of frames.
    [{}, [0, 1]],
  ])('with a track of the facts %j has the video tracks %j', (facts, indices) => {
    const { videoTracks, tracks } = readSource(
      probed(
        [
          { ...facts, index: 0 },
          { nb_frames: '10', duration: '0.4', index: 1 },
        ],
        { format_name: 'mov,mp4,m4a,3gp,3g2,mj2' },
      ),
    );
    expect(videoTracks.map(({ index }) => index)).toEqual(indices);
    expect(tracks.map(({ index }) => index)).toEqual(indices);
  });

  test('has its only video track, even if that has one frame without a duration', () => {
    const { videoTracks } = readSource(
      probed([{ nb_frames: '1' }, { codec_type: 'audio' }], { format_name: 'mov,mp4,m4a,3gp,3g2,mj2' }),
    );
    expect(videoTracks).toHaveLength(1);
  });

  test('recognizes Dolby Vision without a compatible base layer', () => {
    const needsDolbyVision = (dv_profile: number, dv_bl_signal_compatibility_id: number) =>
      firstVideo({ side_data_list: [{ dv_profile, dv_bl_signal_compatibility_id }] })?.needsDolbyVision;
    expect([needsDolbyVision(5, 0), needsDolbyVision(8, 0), needsDolbyVision(10, 0)]).toEqual([
      true,
      true,
      true,
    ]);
    expect([needsDolbyVision(8, 1), needsDolbyVision(8, 4), needsDolbyVision(7, 6)]).toEqual([
      false,
      false,
      false,
    ]);
    // Early records have no compatibility id.
    expect([needsDolbyVision(4, 0), needsDolbyVision(7, 0)]).toEqual([false, false]);
    expect(firstVideo({})?.needsDolbyVision).toBe(false);
  });

  test.each([
    ['dvh1', [], true],
    ['dvhe', [], true],
    ['dvh1', [{ dv_profile: 8, dv_bl_signal_compatibility_id: 1 }], false],
    ['hvc1', [], false],
  ])(
    'in the sample entry %s with the records %j needs Dolby Vision: %s',
    (codec_tag_string, side_data_list, needs) => {
      expect(firstVideo({ codec_tag_string, side_data_list })?.needsDolbyVision).toBe(needs);
    },
  );

  test.each([
    ['matroska,webm', null, 10],
    ['flv', null, 10],
    ['mov,mp4,m4a,3gp,3g2,mj2', 9, null],
    ['avi', 8, null],
    ['mpegts', 9, null],
  ])('of format %s declares the duration of its tracks or of the file', (format_name, ofTrack, ofFile) => {
    const stream = { duration: '9', nb_frames: '200', r_frame_rate: '25/1' };
    const { videoTracks, declaredDuration } = readSource(probed([stream], { format_name, duration: '10' }));
    expect([videoTracks[0]?.declaredDuration, declaredDuration]).toEqual([ofTrack, ofFile]);
  });

  test.each([
    ['with an index', '200', 3],
    ['with fragments', undefined, 3],
  ])('%s that begins late declares a duration', (_, nb_frames, duration) => {
    const format = { format_name: 'mov,mp4,m4a,3gp,3g2,mj2', start_time: '100' };
    const { videoTracks } = readSource(probed([{ duration: '103', nb_frames }], format));
    expect(videoTracks[0]?.declaredDuration).toBe(duration);
  });

  test('with fragments and without a duration declares none', () => {
    const { videoTracks } = readSource(probed([{}], { format_name: 'mov,mp4,m4a,3gp,3g2,mj2' }));
    expect(videoTracks[0]?.declaredDuration).toBeNull();
  });

  test.each([
    ['1:1', true],
    ['1281:1280', false],
    ['16:11', false],
  ])('with the pixel aspect ratio %s has square pixels: %s', (sample_aspect_ratio, square) => {
    expect(firstVideo({ sample_aspect_ratio })?.squarePixels).toBe(square);
  });

  test('does not count a cover image as video', () => {
    const { videoTracks } = readSource(probed([{ disposition: { default: 0, attached_pic: 1 } }, {}]));
    expect(videoTracks.map(({ index }) => index)).toEqual([1]);
  });

  test.each([
    ['matroska,webm', undefined, 'matroska'],
    ['mov,mp4,m4a,3gp,3g2,mj2', 'isom', 'mp4'],
    ['mov,mp4,m4a,3gp,3g2,mj2', 'qt  ', 'mov'],
    ['mov,mp4,m4a,3gp,3g2,mj2', undefined, 'mov'],
  ])('of format %s and brand %s has the container %s', (format_name, major_brand, name) => {
    expect(readSource(probed([{}], { format_name, tags: { major_brand } })).container).toBe(name);
  });

  test.each([
    ['eng', 'en'],
    ['gsw', 'gsw'],
    ['und', null],
    ['not a language', null],
    [`en-x-${'a-'.repeat(50)}a`, null],
    [undefined, null],
  ])('with audio in %s has the language %s', (language, tag) => {
    const { audioTracks } = readSource(probed([{ codec_type: 'audio', channels: 2, tags: { language } }]));
    expect(audioTracks).toMatchObject([{ channels: 2, language: tag }]);
  });
});

test('a file with more than 32 tracks is refused', () => {
  const tracks = (count: number) => probed(Array.from({ length: count }, () => ({ codec_type: 'audio' })));
  expect(readSource(tracks(32)).tracks).toHaveLength(32);
  expect(() => readSource(tracks(33))).toThrow(
    expect.objectContaining({ code: 'malformed_media', message: 'The file has too many tracks.' }),
  );
});

test.each(['a', '-', 'a-', ',', '/', ':', '\\', '\n00000000: 0 65536 0'])(
  'a description that repeats %j is read in linear time',
  async (token) => {
    const inputOf = (size: number) => {
      const text = token.repeat(size / token.length / 7);
      const texts = { profile: text, sample_aspect_ratio: text, r_frame_rate: text, start_time: text };
      const tags = { language: text, title: text };
      return probed([{ ...texts, tags, side_data_list: [{ displaymatrix: text }] }]);
    };
    await requireLinearTime(MAX_DESCRIPTION_CHARS, inputOf, readSource);
  },
);
