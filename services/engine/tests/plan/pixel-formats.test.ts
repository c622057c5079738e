import { runProgram } from '@framelane/test-kit/run-program';
import { expect, test } from '@jest/globals';
import { hasHighBitDepth } from '../../src/plan/input-issues.ts';

test('the pixel formats with more than 8 bits per sample are those that ffmpeg lists', async () => {
  const { stdout } = await runProgram('ffmpeg', ['-hide_banner', '-pix_fmts']);
  // Flags, name, components, bits per pixel, and bits of each component, such as 10-10-10. Hardware formats have no samples.
  const formats = [...stdout.matchAll(/^[I.][O.]\.[P.][B.] (\S+) .* ([\d-]+)$/gm)].map(
    ([, name = '', depths = '']) => ({
      name,
      isHigh: Math.max(...depths.split('-').map(Number)) > 8,
    }),
  );
  expect(formats.length).toBeGreaterThan(150);
  // ffmpeg lists the bits per pixel of a Bayer pattern, not those of a sample.
  const wrong = formats.filter(
    ({ name, isHigh }) => !name.startsWith('bayer') && hasHighBitDepth(name) !== isHigh,
  );
  expect(wrong).toEqual([]);
  expect(['bayer_bggr16le', 'bayer_bggr8'].map(hasHighBitDepth)).toEqual([true, false]);
});
