import { expect, test } from '@jest/globals';
import { wasKilled } from './process-group.ts';

test.each([
  [null, true],
  [137, true],
  [139, true],
  [0, false],
  [1, false],
  // AVERROR_INVALIDDATA and EINVAL, as ffmpeg exits with them.
  [183, false],
  [234, false],
  [255, false],
])('exit code %s: killed %s', (code, killed) => {
  expect(wasKilled(code)).toBe(killed);
});
