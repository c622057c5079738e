import type { Storyboard } from '@framelane/contracts/manifest';
import { withToken } from './playback-token.ts';

/**
 * A WebVTT file for previews in the seek bar. Each cue refers to one tile of the storyboard image (media fragments, W3C
 * Recommendation 4.2.2). The URL of the image has the token, if there is one.
 */
export function renderStoryboard(
  { width, height, columns, tiles, interval }: Storyboard,
  duration: number,
  token: string | undefined,
): string {
  const image = withToken('storyboard.jpg', token);
  const cues = Array.from({ length: tiles }, (_, tile) => {
    const end = tile === tiles - 1 ? Math.max(duration, tile * interval + 0.001) : (tile + 1) * interval;
    const [x, y] = [(tile % columns) * width, Math.floor(tile / columns) * height];
    return `${clock(tile * interval)} --> ${clock(end)}\n${image}#xywh=${x},${y},${width},${height}\n`;
  });
  return ['WEBVTT\n', ...cues].join('\n');
}

/** Seconds as a WebVTT timestamp, e.g. `00:01:02.500`. */
function clock(seconds: number): string {
  const milliseconds = Math.round(seconds * 1000);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const rest = String(milliseconds % 1000).padStart(3, '0');
  const whole = Math.floor(milliseconds / 1000);
  return `${two(whole / 3600)}:${two((whole / 60) % 60)}:${two(whole % 60)}.${rest}`;
}
