import { describe, expect, test } from '@jest/globals';
import { encodePlanIn, type TranscodePlan } from './transcode-plan.ts';

const rendition = (name: '360p' | '360p-av1') => ({
  name,
  width: 640,
  height: 360,
  maxRate: 8,
  frameStep: 1,
});

/** A plan whose only rendition is a stream copy, and that has AV1, too. */
const PLAN = {
  encode: { videoRenditions: [rendition('360p')], copiesVideo: true, audio: [{ name: 'audio' }], frames: 50 },
  alternatives: [{ codec: 'av1', videoRenditions: [rendition('360p-av1')] }],
} as unknown as Pick<TranscodePlan, 'encode' | 'alternatives'>;

describe('the plan of a video in another codec', () => {
  test('has the renditions of that codec alone, encoded although that of H.264 is a stream copy', () => {
    expect(encodePlanIn('av1', PLAN)).toEqual({
      videoRenditions: [rendition('360p-av1')],
      copiesVideo: false,
      audio: [],
      frames: 50,
    });
    expect(PLAN.encode.copiesVideo).toBe(true);
  });

  test('has a stream copy if the plan has one in that codec', () => {
    const encode = { ...PLAN.encode, copiesVideo: false, copiedAlternative: 'av1' as const };
    expect(encodePlanIn('av1', { ...PLAN, encode }).copiesVideo).toBe(true);
    const other = { ...encode, copiedAlternative: 'hevc' as const };
    expect(encodePlanIn('av1', { ...PLAN, encode: other }).copiesVideo).toBe(false);
  });

  test('must be a part of the plan', () => {
    expect(() => encodePlanIn('hevc', PLAN)).toThrow('no renditions in hevc');
  });
});
