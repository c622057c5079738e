import { expect, test } from '@jest/globals';
import { anchorOf, replaceTargets } from './markdown-links.ts';

test('the targets of links and images are replaced, but not what looks like one in code', () => {
  const text = '[a](b) ![c](d "e") `[f](g)`\n\n```js\n[h](i)\n```\n[j](k)';
  expect(replaceTargets(text, (target) => `<${target}>`)).toBe(
    '[a](<b>) ![c](d "e") `[f](g)`\n\n```js\n[h](i)\n```\n[j](<k>)',
  );
});

test('anchors are those of GitHub', () => {
  expect(anchorOf('Why a video fails: `code`, 4.2 & more')).toBe('why-a-video-fails-code-42--more');
});
