import type { Storyboard } from '@framelane/contracts/manifest';
import { withToken } from './playback-token.ts';

/**
 * A WebVTT file whose cues name the parts of the storyboard (media fragments, W3C Recommendation 4.2.2), as players take
 * it for previews in the seek bar. A token goes along with the address of the picture.
 */
export function renderStoryboard(
  { width, height, columns, tiles, interval }: Storyboard,
  duration: number,
  token: string | undefined,
): string {
  const picture = withToken('storyboard.jpg', token);
  const cues = Array.from({ length: tiles }, (_, tile) => {
    const end = tile === tiles - 1 ? Math.max(duration, tile * interval + 0.001) : (tile + 1) * interval;
    const [x, y] = [(tile % columns) * width, Math.floor(tile / columns) * height];
    return `${clock(tile * interval)} --> ${clock(end)}\n${picture}#xywh=${x},${y},${width},${height}\n`;
  });
  return ['WEBVTT\n', ...cues].join('\n');
}

/** Seconds as WebVTT writes them, e.g. `00:01:02.500`. */
function clock(seconds: number): string {
  const milliseconds = Math.round(seconds * 1000);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const rest = String(milliseconds % 1000).padStart(3, '0');
  const whole = Math.floor(milliseconds / 1000);
  return `${two(whole / 3600)}:${two((whole / 60) % 60)}:${two(whole % 60)}.${rest}`;
}
