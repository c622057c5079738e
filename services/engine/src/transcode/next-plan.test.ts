import { expect, test } from '@jest/globals';
import { audioTrack, videoTrack } from '../../tests/support/tracks.ts';
import { InvalidSegmentError } from '../output/segment-info.ts';
import { planEncoding } from '../plan/encode-plan.ts';
import { DEFAULT_MAX_RATES } from '../plan/ladder.ts';
import type { ProbedSource } from '../source/probe.ts';
import { nextPlan } from './next-plan.ts';

test('audio that changes its channels is still decoded to stereo after passthrough failed', () => {
  const source: ProbedSource = {
    ...{ container: 'mp4', video: videoTrack({}), audio: audioTrack({}), leftOut: [] },
    timeline: { frames: 250, start: 0, duration: 10, averageRate: 25, grid: null },
    ...{ end: 10, declaredDuration: null, gops: 'irregular', audioFrames: null },
  };
  const encoded = planEncoding(source, false);
  const audio = encoded.audio && { ...encoded.audio, decodeToStereo: true };
  const invalid = new InvalidSegmentError('No IDR picture');
  const next = nextPlan({ ...encoded, audio, videoPassthrough: true }, source, invalid, DEFAULT_MAX_RATES);
  expect(next).toMatchObject({
    log: 'transcode.passthrough_failed',
    plan: { videoPassthrough: false, audio },
  });
});
