import { expect, test } from '@jest/globals';
import { playerHtml } from './share-text.ts';

test('a URL cannot leave its attribute', () => {
  expect(playerHtml('https://a.example/e?token=1&x="><script>')).toContain(
    'src="https://a.example/e?token=1&amp;x=&quot;><script>"',
  );
});
