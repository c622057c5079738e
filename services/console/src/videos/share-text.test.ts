import { expect, test } from '@jest/globals';
import { playerHtml } from './share-text.ts';

const UNKNOWN = { width: null, height: null };

test('neither a URL nor a title can leave its attribute', () => {
  const html = playerHtml('https://a.example/e?token=1&x="><script>', 'My "first" & only', UNKNOWN);
  expect(html).toContain('src="https://a.example/e?token=1&amp;x=&quot;><script>"');
  expect(html).toContain('title="My &quot;first&quot; &amp; only"');
});

test.each([
  [UNKNOWN, '640" height="360'],
  [{ width: 1920, height: 1080 }, '640" height="360'],
  [{ width: 1080, height: 1920 }, '360" height="640'],
  [{ width: 480, height: 480 }, '640" height="640'],
])('the frame has the shape of the video: %j', (shape, attributes) => {
  expect(playerHtml('https://a.example/e', 'A', shape)).toContain(`width="${attributes}"`);
});
