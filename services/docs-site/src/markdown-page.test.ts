import { expect, test } from '@jest/globals';
import { markdownPage } from './markdown-page.ts';

test('links between pages lead to Markdown, and others stay', () => {
  const markdown =
    '[a](/url-of-these-docs/uploads) [b](/url-of-these-docs/uploads#limits) [c](/url-of-these-docs/) ![d](/url-of-these-docs/images/d.png) [e](https://example.com) [f](#g)';
  const page = { name: 'x', title: 'X', summary: '', section: '', markdown };
  expect(markdownPage(page)).toBe(
    '[a](/url-of-these-docs/uploads.md) [b](/url-of-these-docs/uploads.md#limits) [c](/url-of-these-docs/index.md) ![d](/url-of-these-docs/images/d.png) [e](https://example.com) [f](#g)',
  );
});
