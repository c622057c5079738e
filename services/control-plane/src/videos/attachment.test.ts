import { expect, test } from '@jest/globals';
import { attachment } from './attachment.ts';

test.each([
  ['clip.mp4', 'clip.mp4', 'clip.mp4'],
  ['Summer campaign.mp4', 'Summer campaign.mp4', 'Summer%20campaign.mp4'],
  [
    'naïve – 映画 🎬.mp4',
    'na_ve _ __ _.mp4',
    'na%C3%AFve%20%E2%80%93%20%E6%98%A0%E7%94%BB%20%F0%9F%8E%AC.mp4',
  ],
  ['a"b.mp4', 'a_b.mp4', 'a%22b.mp4'],
  ["it's (1)*.mp4", "it's (1)*.mp4", 'it%27s%20%281%29%2A.mp4'],
  ['100%25.mp4', '100_25.mp4', '100%2525.mp4'],
  ['a; filename=evil.exe.mp4', 'a; filename=evil.exe.mp4', 'a%3B%20filename%3Devil.exe.mp4'],
  ['a\r\nSet-Cookie: x.mp4', 'a__Set-Cookie: x.mp4', 'a%0D%0ASet-Cookie%3A%20x.mp4'],
  ['half \ud800.mp4', 'half _.mp4', 'half%20%EF%BF%BD.mp4'],
])('the Content-Disposition for %j', (filename, ascii, encoded) => {
  expect(attachment(filename)).toBe(`attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`);
});
