import type { Segment } from '@framelane/contracts/manifest';
import { withToken } from './playback-token.ts';

/**
 * The target duration of a video in whole seconds: the longest segment of all renditions, rounded (RFC 8216 §4.3.3.1). Its
 * media playlists share it.
 */
export function targetDurationOf(renditions: readonly (readonly Segment[])[]): number {
  const longest = renditions.flat().reduce((most, { duration }) => Math.max(most, duration), 0);
  return Math.max(1, Math.round(longest));
}

/**
 * The media playlist of one rendition (RFC 8216 §4.3.2 and §4.3.3), from the durations of its segments in seconds. The key
 * tag has no IV: the media sequence number of each segment is its IV (§5.2). The master playlist declares the segments of all
 * renditions independent (§4.3.5.1).
 *
 * Only the key's URL has the token, because segments cannot be played without the key. `segmentsAt` is the URL of the
 * segments, with a slash at its end; by default they are beside the playlist. `iFramesOnly` says that each segment is an I-frame
 * (§4.3.3.6), whose duration lasts until the next one.
 */
export function renderMediaPlaylist(
  { durations, targetDuration }: { durations: readonly number[]; targetDuration: number },
  {
    token,
    segmentsAt = '',
    iFramesOnly = false,
  }: { token?: string | undefined; segmentsAt?: string | undefined; iFramesOnly?: boolean } = {},
): string {
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:6',
    `#EXT-X-TARGETDURATION:${targetDuration}`,
    '#EXT-X-MEDIA-SEQUENCE:0',
    '#EXT-X-PLAYLIST-TYPE:VOD',
    ...(iFramesOnly ? ['#EXT-X-I-FRAMES-ONLY'] : []),
    `#EXT-X-KEY:METHOD=AES-128,URI="${withToken('../key', token)}"`,
    ...durations.flatMap((duration, sequence) => [
      `#EXTINF:${duration.toFixed(6)},`,
      `${segmentsAt}${sequence}.ts`,
    ]),
    '#EXT-X-ENDLIST',
  ];
  return `${lines.join('\n')}\n`;
}
