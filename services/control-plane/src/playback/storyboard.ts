import { timestamp } from '@framelane/captions/write-webvtt';
import type { Storyboard } from '@framelane/contracts/outputs/images';
import { withToken } from './playback-token.ts';

/**
 * A WebVTT file for previews in the seek bar. Each cue refers to one tile of the storyboard image (media fragments, W3C
 * Recommendation 4.2.2). The URL of the image has the token, if there is one.
 */
export function renderStoryboard(
  { width, height, columns, tiles, interval }: Omit<Storyboard, 'bytes'>,
  duration: number,
  token: string | undefined,
): string {
  const image = withToken('storyboard.jpg', token);
  const cues = Array.from({ length: tiles }, (_, tile) => {
    const end = tile === tiles - 1 ? Math.max(duration, tile * interval + 0.001) : (tile + 1) * interval;
    const [x, y] = [(tile % columns) * width, Math.floor(tile / columns) * height];
    return `${timestamp(Math.round(tile * interval * 1000))} --> ${timestamp(Math.round(end * 1000))}\n${image}#xywh=${x},${y},${width},${height}\n`;
  });
  return ['WEBVTT\n', ...cues].join('\n');
}
