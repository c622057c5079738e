import { expect, test } from '@jest/globals';
import { Interleaving } from './interleaving.ts';

test('audio that precedes a key frame and is heard after it counts', () => {
  const order = new Interleaving();
  order.addKeyFrame(0);
  expect(order.audioAhead).toBe(0);
  order.addAudio(1.5);
  order.addKeyFrame(1);
  order.addAudio(1.8);
  order.addAudio(Number.NaN);
  order.addKeyFrame(2);
  order.addKeyFrame(Number.NaN);
  expect(order.audioAhead).toBe(0.5);
  order.addAudio(9);
  order.addKeyFrame(4);
  expect(order.audioAhead).toBe(5);
});
