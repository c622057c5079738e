import type { Segment } from '@framelane/contracts/manifest';
import { withToken } from './playback-token.ts';

/**
 * The target duration of a video, in whole seconds: no segment of any rendition, rounded, lasts longer (RFC 8216
 * §4.3.3.1). All its media playlists state the same one.
 */
export function targetDurationOf(renditions: readonly (readonly Segment[])[]): number {
  const longest = renditions.flat().reduce((most, { duration }) => Math.max(most, duration), 0);
  return Math.max(1, Math.round(longest));
}

/**
 * The media playlist of one rendition (RFC 8216 §4.3.2 and §4.3.3), from the seconds each segment lasts. The key tag has
 * no IV: each segment is encrypted with its media sequence number instead (§5.2). That segments are independent is said
 * once for all renditions, in the master playlist (§4.3.5.1).
 *
 * A token, where players need one, goes along with the key alone; segments are of no use without it. They are found at
 * `segmentsAt`, which ends with a slash, or beside the playlist.
 */
export function renderMediaPlaylist(
  { durations, targetDuration }: { durations: readonly number[]; targetDuration: number },
  { token, segmentsAt = '' }: { token?: string | undefined; segmentsAt?: string | undefined } = {},
): string {
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:6',
    `#EXT-X-TARGETDURATION:${targetDuration}`,
    '#EXT-X-MEDIA-SEQUENCE:0',
    '#EXT-X-PLAYLIST-TYPE:VOD',
    `#EXT-X-KEY:METHOD=AES-128,URI="${withToken('../key', token)}"`,
    ...durations.flatMap((duration, sequence) => [
      `#EXTINF:${duration.toFixed(6)},`,
      `${segmentsAt}${sequence}.ts`,
    ]),
    '#EXT-X-ENDLIST',
  ];
  return `${lines.join('\n')}\n`;
}
