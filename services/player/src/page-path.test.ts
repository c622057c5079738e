import { expect, test } from '@jest/globals';
import { pagePath } from './page-path.ts';

test('a page has one path, with and without a final slash', () => {
  expect(pagePath({ pathname: '/v1/embed/ws_1/vid_1/' })).toBe('/v1/embed/ws_1/vid_1');
  expect(pagePath({ pathname: '/v1/embed/ws_1/vid_1' })).toBe('/v1/embed/ws_1/vid_1');
});
