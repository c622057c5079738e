import { describe, expect, test } from '@jest/globals';
import { audioTrack, videoTrack } from '../../tests/support/tracks.ts';
import { EmptyRenditionError } from '../outputs/renditions/segment-info.ts';
import { InvalidSegmentError } from '../packagers/packager.ts';
import { planEncoding } from '../plan/encode-plan.ts';
import { DEFAULT_MAX_RATES } from '../plan/ladder.ts';
import { ToolError } from '../sandbox/run-tool.ts';
import type { AudioTrack } from '../source/media-source.ts';
import type { ProbedSource } from '../source/probe.ts';
import { refusal, storageFailure } from '../transcode-failure.ts';
import { nextPlan, withoutAudioTrack } from './next-plan.ts';

const probedAudio = (changes: Partial<AudioTrack> = {}) => ({
  ...audioTrack(changes),
  start: 0,
  end: 10,
  frames: null,
});
const settings = { packaging: 'ts' as const, codecs: [], maxRates: DEFAULT_MAX_RATES, surround: false };

const source: ProbedSource = {
  container: 'mp4',
  reading: {},
  video: videoTrack({}),
  audio: [probedAudio()],
  leftOut: [],
  chapters: [],
  timeline: { cut: 0, frames: 250, start: 0, duration: 10, averageRate: 25, grid: null },
  end: 10,
  unread: 0,
  declaredDuration: null,
  gops: 'irregular',
  changes: new Map(Array.from({ length: 10 }, (_, second) => [second, 2])),
  entryPoints: null,
  audioAhead: 0,
  keyFramesNeedOthers: false,
  layout: null,
};
const encoded = planEncoding(source, { allowCopy: false });
const copied = { ...encoded, copiesVideo: true };
const invalidSegment = new InvalidSegmentError('No IDR picture');

describe('after a failure of a stream copy', () => {
  test.each([
    ['a segment is invalid', invalidSegment],
    ['a segment is invalid and the file refused', refusal('malformed_media', 'No frame', invalidSegment)],
    ['ffmpeg fails', refusal('transcode_failed', 'No copy', new ToolError('exit', 'Ended with code 1', ''))],
  ])('everything is encoded if %s', (_, error) => {
    const next = nextPlan({ plan: copied, source }, error, settings);
    expect(next).toEqual({ plan: encoded, source, log: 'transcode.copy_failed' });
  });

  test.each([
    ['the object store fails', storageFailure(invalidSegment)],
    ['ffmpeg takes too long', refusal('transcode_timeout', 'Slow', new ToolError('timeout', '', ''))],
    ['the engine has a bug', new TypeError('x is undefined')],
  ])('there is no other plan if %s', (_, error) => {
    expect(nextPlan({ plan: copied, source }, error, settings)).toBeNull();
  });

  test('there is no other plan if everything was encoded already', () => {
    expect(nextPlan({ plan: encoded, source }, invalidSegment, settings)).toBeNull();
  });

  test('a video without audio is encoded', () => {
    const silent = { ...source, audio: [] };
    const plan = { ...planEncoding(silent, { allowCopy: false }), copiesVideo: true };
    expect(nextPlan({ plan, source: silent }, invalidSegment, settings)?.plan.audio).toEqual([]);
  });

  test('audio that changes its channels is still decoded to stereo', () => {
    const audio = encoded.audio.map((track) => ({ ...track, decodeToStereo: true }));
    const next = nextPlan({ plan: { ...copied, audio }, source }, invalidSegment, settings);
    expect(next).toMatchObject({
      log: 'transcode.copy_failed',
      plan: { copiesVideo: false, audio },
    });
  });
});

describe('after audio has changed its channels', () => {
  const changed = new ToolError('exit', '', 'Changing audio frame properties on the fly is not supported');
  const surround = { ...source, audio: [probedAudio({ codec: 'ac3', channels: 6 })] };
  const plan = planEncoding(surround, { allowCopy: false });
  const stereo = { ...plan, audio: plan.audio.map((track) => ({ ...track, decodeToStereo: true })) };

  test.each([
    ['ffmpeg fails', changed],
    ['the file is refused', refusal('transcode_failed', 'The audio changes', changed)],
  ])('a decoder that can mix to stereo does so if %s', (_, error) => {
    const next = nextPlan({ plan, source: surround }, error, settings);
    expect(next).toEqual({ plan: stereo, source: surround, log: 'transcode.audio_format_changed' });
  });

  test('the rendition in 5.1 is left out', () => {
    const plan51 = planEncoding(surround, { allowCopy: false, surround: true });
    expect(plan51.audio.map(({ name }) => name)).toEqual(['audio', 'surround']);
    const next = nextPlan({ plan: plan51, source: surround }, changed, { ...settings, surround: true });
    expect(next?.plan.audio).toMatchObject([{ name: 'audio', decodeToStereo: true }]);
  });

  test('only the decoder of that track mixes to stereo', () => {
    const dolby = probedAudio({ index: 2, codec: 'ac3', channels: 6 });
    const several = { ...source, audio: [probedAudio(), dolby] };
    const both = planEncoding(several, { allowCopy: false, surround: true });
    const ofTrack = (index: number) =>
      nextPlan(
        { plan: both, source: several },
        new ToolError(
          'exit',
          '',
          `[graph_1_in_0_${index} @ 0x1] Changing audio frame properties on the fly is not supported`,
        ),
        { ...settings, surround: true },
      );
    expect(ofTrack(2)?.plan.audio).toMatchObject([
      { name: 'audio', decodeToStereo: false },
      { name: 'audio2', decodeToStereo: true },
    ]);
    // AAC is not mixed by its decoder.
    expect(ofTrack(1)).toMatchObject({ log: 'transcode.audio_left_out', source: { audio: [{ index: 2 }] } });
    expect(ofTrack(1)?.plan.audio.map(({ name }) => name)).toEqual(['audio', 'surround']);
  });

  test.each([
    ['the decoder has mixed already', stereo, surround, changed],
    ['the decoder cannot mix', encoded, source, changed],
    ['the audio is not decoded', { ...plan, audio: [] }, { ...surround, audio: [] }, changed],
    ['ffmpeg failed for another reason', plan, surround, new ToolError('exit', '', 'Conversion failed!')],
  ])('there is no other plan if %s', (_, failed, from, error) => {
    expect(nextPlan({ plan: failed, source: from }, error, settings)).toBeNull();
  });
});

describe('an audio track that turns out to be unusable', () => {
  const tracks = [probedAudio(), probedAudio({ index: 2, codec: 'flac', language: 'de' })] as const;
  const several = { ...source, audio: tracks };
  test('leaves a copy in another codec as it was planned', () => {
    const gops = Array.from({ length: 5 }, (_, at) => ({ start: 2 * at, duration: 2, bytes: 20_000 }));
    const hevc = { ...several, video: videoTrack({ codec: 'hevc', profile: 'Main', level: 63 }), gops };
    const both = [probedAudio({ codec: 'flac' }), probedAudio({ index: 2, codec: 'flac' })] as const;
    const withCodec = { ...settings, codecs: ['hevc'] as const };
    const encodedAudio = { ...hevc, audio: both };
    const planned = planEncoding(encodedAudio, { allowCopy: true, ...withCodec });
    expect(planned.copiedAlternative).toBe('hevc');
    const next = nextPlan(
      { plan: planned, source: encodedAudio },
      new EmptyRenditionError('audio2'),
      withCodec,
    );
    expect(next).toMatchObject({ log: 'transcode.audio_left_out', plan: { copiedAlternative: 'hevc' } });
  });

  const plan = planEncoding(several, { allowCopy: false });
  const changed = (input: string) =>
    new ToolError('exit', '', `[graph_1_in_${input} @ 0x1] Changing audio frame properties on the fly`);

  test.each([
    ['changes its format, by ffmpeg 5 and 6', changed('0_2')],
    ['changes its format, by ffmpeg 7', changed('0:2')],
    ['has no frame', refusal('malformed_media', 'No frame', new EmptyRenditionError('audio2'))],
  ])('is left out if it %s', (_, error) => {
    const next = nextPlan({ plan, source: several }, error, settings);
    expect(next).toMatchObject({
      log: 'transcode.audio_left_out',
      plan: {
        audio: [{ name: 'audio', index: 1 }],
        inputIssues: [{ code: 'track_left_out', message: 'Track 3 (audio, flac, de) was left out.' }],
      },
      source: { audio: [{ index: 1 }] },
    });
  });

  test('does not prevent a stream copy of the others', () => {
    const gops = [0, 5].map((start) => ({ start, duration: 5, bytes: 100_000 }));
    const compatible = { ...several, gops };
    const passed = planEncoding(compatible, { allowCopy: true });
    const next = nextPlan({ plan: passed, source: compatible }, changed('0_2'), settings);
    expect([passed.copiesVideo, next?.plan.copiesVideo]).toEqual([true, true]);
  });

  test('is listed among the other tracks that are left out', () => {
    const leftOut = [0, 3].map((index) => ({ index, kind: 'video' as const, codec: 'h264', language: null }));
    expect(withoutAudioTrack({ ...several, leftOut }, 2).leftOut.map(({ index }) => index)).toEqual([
      0, 2, 3,
    ]);
    expect(withoutAudioTrack(several, 9)).toBe(several);
  });

  test('is left out if it is the only one and has no frame', () => {
    const error = refusal('malformed_media', 'No frame', new EmptyRenditionError('audio'));
    expect(nextPlan({ plan: encoded, source }, error, settings)?.plan.audio).toEqual([]);
  });
});
