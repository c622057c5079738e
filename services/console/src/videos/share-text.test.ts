import { expect, test } from '@jest/globals';
import { playerHtml } from './share-text.ts';

test('neither a URL nor a title can leave its attribute', () => {
  const html = playerHtml('https://a.example/e?token=1&x="><script>', 'My "first" & only');
  expect(html).toContain('src="https://a.example/e?token=1&amp;x=&quot;><script>"');
  expect(html).toContain('title="My &quot;first&quot; &amp; only"');
});
