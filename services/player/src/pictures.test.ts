import { expect, test } from '@jest/globals';
import { pictureFor } from './pictures.ts';
import type { State } from './state.ts';

test.each<[State, string]>([
  [{ status: 'preparing', progress: 4 }, 'preparing'],
  [{ status: 'waiting' }, 'preparing'],
  [{ status: 'failed' }, 'failed'],
  [{ status: 'offline' }, 'offline'],
  [{ status: 'refused', code: 'playback_token_expired' }, 'locked'],
  [{ status: 'refused', code: 'playback_token_required' }, 'locked'],
  [{ status: 'refused', code: 'video_not_found' }, 'missing'],
  [{ status: 'refused', code: 'rate_limited' }, 'failed'],
])('the message of %j has the picture "%s"', (state, picture) => {
  expect(pictureFor(state)).toBe(picture);
});
