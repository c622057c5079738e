import { expect, test } from '@jest/globals';
import { nextLink } from './pagination.ts';

test.each([
  ['https://video.example', '/v1/videos?limit=1', 'https://video.example/v1/videos?limit=1&cursor=c'],
  ['https://example.com/video', '/v1/videos', 'https://example.com/video/v1/videos?cursor=c'],
  ['https://video.example', '/v1/videos?cursor=b', 'https://video.example/v1/videos?cursor=c'],
])('the link to the next page, at %s after %s', (publicUrl, originalUrl, next) => {
  expect(nextLink(publicUrl, originalUrl, 'c')).toBe(`<${next}>; rel="next"`);
});
