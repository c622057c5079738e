import type { Segment } from '@framelane/contracts/manifest';
import { PACKAGINGS, type PackagingName, segmentName } from '@framelane/contracts/packaging';
import { withToken } from './playback-token.ts';

/**
 * The target duration of a video in whole seconds: the longest segment of all renditions, rounded (RFC 8216 §4.3.3.1). Its
 * media playlists share it.
 */
export function targetDurationOf(renditions: readonly (readonly Pick<Segment, 'duration'>[])[]): number {
  const longest = renditions.flat().reduce((most, { duration }) => Math.max(most, duration), 0);
  return Math.max(1, Math.round(longest));
}

/** Durations of segments and the target duration, in seconds. */
export type SegmentDurations = { durations: readonly number[]; targetDuration: number };

/** The segments of a rendition, as its playlist lists them. */
export type RenditionSegments = SegmentDurations & { packaging: PackagingName };

/** A media playlist of type VOD (RFC 8216 §4.3.2 and §4.3.3). `tags` apply to all segments. */
export function renderSegments(
  { durations, targetDuration }: SegmentDurations,
  { tags = [], uriOf }: { tags?: readonly string[]; uriOf: (sequence: number) => string },
): string {
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:6',
    `#EXT-X-TARGETDURATION:${targetDuration}`,
    '#EXT-X-MEDIA-SEQUENCE:0',
    '#EXT-X-PLAYLIST-TYPE:VOD',
    ...tags,
    ...durations.flatMap((duration, sequence) => [`#EXTINF:${duration.toFixed(6)},`, uriOf(sequence)]),
    '#EXT-X-ENDLIST',
  ];
  return `${lines.join('\n')}\n`;
}

/**
 * The media playlist of one rendition. The initialization section is not encrypted, so its tag comes before that of the key, which applies to
 * all sections after it (RFC 8216 §4.3.2.4). The key tag has no IV: the media sequence number of each segment is its IV (RFC 8216 §5.2).
 * The master playlist declares the segments of all renditions independent (§4.3.5.1).
 *
 * Only the key's URL has the token, because segments cannot be played without the key. `segmentsAt` is the URL of the
 * segments and the initialization section, with a slash at its end; by default they are beside the playlist. `iFramesOnly` says that each segment is an I-frame
 * (§4.3.3.6), whose duration lasts until the next one.
 */
export function renderMediaPlaylist(
  { packaging, ...segments }: RenditionSegments,
  {
    token,
    segmentsAt = '',
    iFramesOnly = false,
  }: { token?: string | undefined; segmentsAt?: string | undefined; iFramesOnly?: boolean } = {},
): string {
  const { initialization } = PACKAGINGS[packaging];
  return renderSegments(segments, {
    tags: [
      ...(iFramesOnly ? ['#EXT-X-I-FRAMES-ONLY'] : []),
      ...(initialization === null ? [] : [`#EXT-X-MAP:URI="${segmentsAt}${initialization}"`]),
      `#EXT-X-KEY:METHOD=AES-128,URI="${withToken('../key', token)}"`,
    ],
    uriOf: (sequence) => `${segmentsAt}${segmentName(sequence, packaging)}`,
  });
}
